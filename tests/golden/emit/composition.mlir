module @hone {
  func.func public @main(%x.arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = stablehlo.constant dense<2.00000000000000000e+00> : tensor<2xf32>
    %1 = stablehlo.multiply %x.arg0, %0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
