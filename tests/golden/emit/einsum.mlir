module @hone {
  func.func public @main(%x.arg0: tensor<2x3x4xf32>, %model.w.weight.arg1: tensor<5x4xf32>) -> (tensor<2x5x3xf32>) {
    %0 = stablehlo.dot_general %x.arg0, %model.w.weight.arg1, batching_dims = [] x [], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
    %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
    return %1 : tensor<2x5x3xf32>
  }
}
