// The custom call hone_grouped_matmul:
//   (x: f32 [rows, k], w: f32|bf16|f16 [groups, n, k], sizes: i32 [groups]) -> f32 [rows, n]
//   backend_config = {transposed = 0 : i64}
// or, transposed = 1, x [rows, n] -> [rows, k]. Rows past the sum of the sizes become zeros. The
// matrices of groups without rows are not read.
#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/grouped_matmul.h"
#include "kernels/kernels.h"
#include "kernels/parallel.h"
#include "xla/ffi/api/ffi.h"

namespace hone::kernels {
namespace {

namespace ffi = xla::ffi;

// A task's share of one matrix: enough to be worth a thread's while, few enough that all threads
// have work when one group is active.
constexpr int64_t kElementsPerTask = 64 * 1024;

std::optional<Stored> stored_as(ffi::DataType t) {
  if (t == ffi::DataType::F32) return Stored::kF32;
  if (t == ffi::DataType::BF16) return Stored::kBF16;
  if (t == ffi::DataType::F16) return Stored::kF16;
  return std::nullopt;
}

// Outputs [first, end) of the rows [row, row + rows) of one group.
struct Task {
  int64_t group, row, rows, first, end;
};

std::vector<Task> tasks_of(std::span<const int32_t> sizes, int64_t all_rows, int64_t ins,
                           int64_t outs, int64_t& covered) {
  // A multiple of the widest vector, so that only the last task of a matrix has a tail.
  const int64_t share =
      std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, ins) / 16) * 16;
  std::vector<Task> tasks;
  covered = 0;
  for (size_t g = 0; g < sizes.size(); ++g) {
    const int64_t rows = std::clamp<int64_t>(sizes[g], 0, all_rows - covered);
    if (rows == 0) continue;
    for (int64_t first = 0; first < outs; first += share)
      tasks.push_back(
          {static_cast<int64_t>(g), covered, rows, first, std::min(outs, first + share)});
    covered += rows;
  }
  return tasks;
}

ffi::Error run(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, ffi::AnyBuffer w,
               ffi::Buffer<ffi::S32> sizes, ffi::ResultBuffer<ffi::F32> y, int64_t transposed) {
  const auto xd = x.dimensions(), wd = w.dimensions(), yd = y->dimensions();
  const auto stored = stored_as(w.element_type());
  const bool known = xd.size() == 2 && wd.size() == 3 && yd.size() == 2 && stored &&
                     sizes.dimensions().size() == 1 && sizes.dimensions()[0] == wd[0];
  const size_t in = transposed != 0 ? 1 : 2, out = transposed != 0 ? 2 : 1;
  if (!known || xd[1] != wd[in] || yd[1] != wd[out] || yd[0] != xd[0])
    return ffi::Error::InvalidArgument(
        "hone_grouped_matmul: wants x [rows, k], w [groups, n, k], sizes [groups], y [rows, n]; "
        "transposed, x [rows, n] and y [rows, k]");
  const int64_t rows = xd[0], n = wd[1], k = wd[2], ins = wd[in], outs = wd[out];
  int64_t covered = 0;
  const auto tasks =
      tasks_of({sizes.typed_data(), static_cast<size_t>(wd[0])}, rows, ins, outs, covered);
  const auto* matrices = static_cast<const std::byte*>(w.untyped_data());
  const int64_t bytes = *stored == Stored::kF32 ? 4 : 2;
  const float* from = x.typed_data();
  float* to = y->typed_data();
  std::fill(to + covered * outs, to + rows * outs, 0.0F);
  parallel_for(pool, static_cast<int64_t>(tasks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Task& t = tasks[static_cast<size_t>(i)];
      const std::byte* matrix = matrices + t.group * n * k * bytes;
      if (transposed != 0)
        rows_times_columns(from + t.row * n, t.rows, matrix, *stored, n, k, t.first, t.end,
                           to + t.row * k);
      else
        rows_times_matrix(from + t.row * k, t.rows, matrix + t.first * k * bytes, *stored,
                          t.end - t.first, k, to + t.row * n + t.first, n);
    }
  });
  return ffi::Error::Success();
}

XLA_FFI_Error* handle(XLA_FFI_CallFrame* frame) {
  static const auto kBound = ffi::Ffi::Bind()
                                 .Ctx<ffi::ThreadPool>()
                                 .Arg<ffi::Buffer<ffi::F32>>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::Buffer<ffi::S32>>()
                                 .Ret<ffi::Buffer<ffi::F32>>()
                                 .Attr<int64_t>("transposed")
                                 .To(run);
  return kBound->Call(frame);
}

}  // namespace

extern const Kernel kGroupedMatmul{"hone_grouped_matmul", handle};

}  // namespace hone::kernels
