module @hone {
  func.func public @main(%x.arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = stablehlo.negate %x.arg0 : tensor<2xf32>
    %1 = stablehlo.constant dense<0.00000000000000000e+00> : tensor<2xf32>
    %2 = stablehlo.compare GT, %x.arg0, %1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %3 = stablehlo.select %2, %x.arg0, %0 : tensor<2xi1>, tensor<2xf32>
    return %3 : tensor<2xf32>
  }
}
