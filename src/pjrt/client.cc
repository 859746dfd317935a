#include "pjrt/client.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "pjrt/types.h"

namespace hone::pjrt {

struct Client::State {
  ClientHandle handle;
  std::string platform;
  std::string platform_version;
  std::vector<Device> devices;
  std::vector<PJRT_Device*> raw_devices;  // owned by the client
};

namespace {

ClientHandle create_client(const std::shared_ptr<const Plugin>& plugin,
                           const ClientOptions& options) {
  PJRT_NamedValue count{};
  count.struct_size = sizeof count;
  constexpr std::string_view kName = "cpu_device_count";
  count.name = kName.data();
  count.name_size = kName.size();
  count.type = PJRT_NamedValue_kInt64;
  count.int64_value = options.cpu_device_count;
  count.value_size = 1;
  PJRT_Client_Create_Args args{};
  args.create_options = &count;
  args.num_options = options.cpu_device_count > 0 ? 1 : 0;
  plugin->call(&PJRT_Api::PJRT_Client_Create, args, "create a client");
  return {plugin, args.client};
}

Device describe(const Plugin& plugin, PJRT_Device* device) {
  PJRT_Device_GetDescription_Args description{};
  description.device = device;
  plugin.call(&PJRT_Api::PJRT_Device_GetDescription, description, "describe a device");
  PJRT_DeviceDescription_Id_Args id{};
  id.device_description = description.device_description;
  plugin.call(&PJRT_Api::PJRT_DeviceDescription_Id, id, "number of a device");
  PJRT_DeviceDescription_Kind_Args kind{};
  kind.device_description = description.device_description;
  plugin.call(&PJRT_Api::PJRT_DeviceDescription_Kind, kind, "kind of a device");
  return {id.id, std::string(kind.device_kind, kind.device_kind_size)};
}

// What a plugin's buffer that reads host memory in place keeps alive. Released on a thread of the
// plugin, so it must not own the client: a client cannot be destroyed from its own threads.
struct Hold {
  std::shared_ptr<const Plugin> plugin;
  std::shared_ptr<const void> owner;
};

void release(PJRT_Error* error, void* hold) {
  const std::unique_ptr<Hold> owned(static_cast<Hold*>(hold));
  owned->plugin->discard(error);
}

}  // namespace

HostMemory allocate_host(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kHostAlignment - 1) & ~(kHostAlignment - 1);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kHostAlignment, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  return {std::shared_ptr<void>(memory, std::free), {memory, bytes}};
}

Client Client::create(std::shared_ptr<const Plugin> plugin, const ClientOptions& options) {
  auto state = std::make_shared<State>();
  state->handle = create_client(plugin, options);
  PJRT_Client* raw = state->handle.get();

  PJRT_Client_PlatformName_Args name{};
  name.client = raw;
  plugin->call(&PJRT_Api::PJRT_Client_PlatformName, name, "name of the platform");
  state->platform.assign(name.platform_name, name.platform_name_size);
  PJRT_Client_PlatformVersion_Args version{};
  version.client = raw;
  plugin->call(&PJRT_Api::PJRT_Client_PlatformVersion, version, "version of the platform");
  state->platform_version.assign(version.platform_version, version.platform_version_size);

  PJRT_Client_AddressableDevices_Args devices{};
  devices.client = raw;
  plugin->call(&PJRT_Api::PJRT_Client_AddressableDevices, devices, "list devices");
  for (size_t i = 0; i < devices.num_addressable_devices; ++i) {
    state->raw_devices.push_back(devices.addressable_devices[i]);
    state->devices.push_back(describe(*plugin, devices.addressable_devices[i]));
  }
  return Client(std::move(state));
}

const std::string& Client::platform() const { return state_->platform; }
const std::string& Client::platform_version() const { return state_->platform_version; }
std::span<const Device> Client::devices() const { return state_->devices; }
const Plugin& Client::plugin() const { return state_->handle.plugin(); }
std::shared_ptr<const ClientHandle> Client::handle() const { return {state_, &state_->handle}; }

Executable Client::compile(std::string_view stablehlo, const CompileOptions& options) const {
  constexpr std::string_view kFormat = "mlir";
  PJRT_Program program{};
  program.struct_size = sizeof program;
  program.code = const_cast<char*>(stablehlo.data());  // only written when a program is read back
  program.code_size = stablehlo.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  const std::string bytes = serialize(options);
  PJRT_Client_Compile_Args args{};
  args.client = state_->handle.get();
  args.program = &program;
  args.compile_options = bytes.data();
  args.compile_options_size = bytes.size();
  plugin().call(&PJRT_Api::PJRT_Client_Compile, args, "compile");
  return Executable(LoadedExecutableHandle(handle(), args.executable));
}

Executable Client::deserialize(std::string_view bytes) const {
  PJRT_Executable_DeserializeAndLoad_Args args{};
  args.client = state_->handle.get();
  args.serialized_executable = bytes.data();
  args.serialized_executable_size = bytes.size();
  plugin().call(&PJRT_Api::PJRT_Executable_DeserializeAndLoad, args, "load a compiled program");
  return Executable(LoadedExecutableHandle(handle(), args.loaded_executable));
}

std::pair<Buffer, EventHandle> Client::from_host(const Type& type, std::span<const std::byte> data,
                                                 PJRT_HostBufferSemantics semantics,
                                                 int device) const {
  if (data.size() != type.bytes())
    throw ShapeError("to_device: {} has {} bytes, {} given", type.str(), type.bytes(), data.size());
  if (device < 0 || device >= std::ssize(state_->raw_devices))
    throw Error(Code::kInvalidArgument, "to_device: no device {}, there are {}", device,
                state_->raw_devices.size());
  PJRT_Client_BufferFromHostBuffer_Args args{};
  args.client = state_->handle.get();
  args.data = data.data();
  args.type = to_pjrt(type.dtype);
  args.dims = type.dims.data();
  args.num_dims = type.dims.size();
  args.host_buffer_semantics = semantics;
  args.device = state_->raw_devices[static_cast<size_t>(device)];
  plugin().call(&PJRT_Api::PJRT_Client_BufferFromHostBuffer, args, "copy to the device");
  return {Buffer(BufferHandle(handle(), args.buffer), type),
          EventHandle(handle(), args.done_with_host_buffer)};
}

Buffer Client::to_device(const Type& type, std::span<const std::byte> data, int device) const {
  return from_host(type, data, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, device).first;
}

Buffer Client::share_with_device(const Type& type, std::span<const std::byte> data,
                                 std::shared_ptr<const void> owner, int device) const {
  auto [buffer, done] = from_host(type, data, PJRT_HostBufferSemantics_kImmutableZeroCopy, device);
  auto hold = std::make_unique<Hold>(state_->handle.parent(), std::move(owner));
  PJRT_Event_OnReady_Args args{};
  args.event = done.get();
  args.callback = release;
  args.user_arg = hold.get();
  plugin().call(&PJRT_Api::PJRT_Event_OnReady, args, "watch a transfer");
  hold.release();
  return std::move(buffer);
}

}  // namespace hone::pjrt
