// The custom call hone_grouped_outer:
//   (a: f32 [rows, n], b: f32 [rows, k], sizes: i32 [groups]) -> f32 [groups, n, k]
// Of each group, the sum of its rows' outer products; zeros where it has none.
#include <algorithm>
#include <vector>

#include "kernels/grouped_matmul.h"
#include "kernels/kernels.h"
#include "kernels/parallel.h"
#include "xla/ffi/api/ffi.h"

namespace hone::kernels {
namespace {

namespace ffi = xla::ffi;

// A task's share of one group's result.
constexpr int64_t kElementsPerTask = 32 * 1024;

ffi::Error run(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> a, ffi::Buffer<ffi::F32> b,
               ffi::Buffer<ffi::S32> sizes, ffi::ResultBuffer<ffi::F32> z) {
  const auto ad = a.dimensions(), bd = b.dimensions(), zd = z->dimensions();
  const bool known = ad.size() == 2 && bd.size() == 2 && zd.size() == 3 && ad[0] == bd[0] &&
                     zd[1] == ad[1] && zd[2] == bd[1] && sizes.dimensions().size() == 1 &&
                     sizes.dimensions()[0] == zd[0];
  if (!known)
    return ffi::Error::InvalidArgument(
        "hone_grouped_outer: wants a [rows, n], b [rows, k], sizes [groups], z [groups, n, k]");
  const int64_t rows = ad[0], n = ad[1], k = bd[1], groups = zd[0];
  std::vector<int64_t> start{0};  // of each group's rows, and the end of the last's
  for (int64_t g = 0; g < groups; ++g)
    start.push_back(start.back() +
                    std::clamp<int64_t>(sizes.typed_data()[g], 0, rows - start.back()));
  // A multiple of the rows that are summed at once.
  const int64_t share = std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, k) / 4) * 4;
  const int64_t shares = (n + share - 1) / share;
  parallel_for(pool, groups * shares, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t g = i / shares, first = i % shares * share, row = start[static_cast<size_t>(g)];
      sum_of_outer_products(a.typed_data() + row * n, b.typed_data() + row * k,
                            start[static_cast<size_t>(g) + 1] - row, n, k, first,
                            std::min(n, first + share), z->typed_data() + g * n * k);
    }
  });
  return ffi::Error::Success();
}

XLA_FFI_Error* handle(XLA_FFI_CallFrame* frame) {
  static const auto kBound = ffi::Ffi::Bind()
                                 .Ctx<ffi::ThreadPool>()
                                 .Arg<ffi::Buffer<ffi::F32>>()
                                 .Arg<ffi::Buffer<ffi::F32>>()
                                 .Arg<ffi::Buffer<ffi::S32>>()
                                 .Ret<ffi::Buffer<ffi::F32>>()
                                 .To(run);
  return kBound->Call(frame);
}

}  // namespace

extern const Kernel kGroupedOuter{"hone_grouped_outer", handle};

}  // namespace hone::kernels
