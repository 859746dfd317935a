// The custom call hone_rms_norm: (x: f32 [.., n], weight: f32 [n]) -> f32 [.., n]
//   backend_config = {eps = 1.0e-5 : f32}
#include "kernels/kernels.h"
#include "kernels/parallel.h"
#include "kernels/rms_norm.h"
#include "xla/ffi/api/ffi.h"

namespace hone::kernels {
namespace {

namespace ffi = xla::ffi;

// Below this a row is done before another thread wakes up.
constexpr int64_t kElementsPerBlock = 16 * 1024;

ffi::Error run(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::F32> weight,
               ffi::ResultBuffer<ffi::F32> y, float eps) {
  const auto dims = x.dimensions();
  if (dims.size() == 0 || weight.dimensions().size() != 1 ||
      weight.dimensions()[0] != dims.back() || y->element_count() != x.element_count())
    return ffi::Error::InvalidArgument("hone_rms_norm: wants x [.., n], weight [n], y like x");
  const int64_t n = dims.back();
  if (x.element_count() == 0) return ffi::Error::Success();
  const int64_t rows = static_cast<int64_t>(x.element_count()) / n;
  const float* in = x.typed_data();
  float* out = y->typed_data();
  const int64_t block = std::max<int64_t>(1, kElementsPerBlock / n);
  parallel_for(pool, rows, block, [&](int64_t begin, int64_t end) {
    rms_norm(in + begin * n, weight.typed_data(), eps, end - begin, n, out + begin * n);
  });
  return ffi::Error::Success();
}

XLA_FFI_Error* handle(XLA_FFI_CallFrame* frame) {
  static const auto kBound = ffi::Ffi::Bind()
                                 .Ctx<ffi::ThreadPool>()
                                 .Arg<ffi::Buffer<ffi::F32>>()
                                 .Arg<ffi::Buffer<ffi::F32>>()
                                 .Ret<ffi::Buffer<ffi::F32>>()
                                 .Attr<float>("eps")
                                 .To(run);
  return kBound->Call(frame);
}

}  // namespace

extern const Kernel kRmsNorm{"hone_rms_norm", handle};

}  // namespace hone::kernels
