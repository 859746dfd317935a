module @hone {
  func.func public @main(%key.arg0: tensor<2xui64>) -> (tensor<2xui32>) {
    %0, %1 = stablehlo.rng_bit_generator %key.arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %2, %3 = stablehlo.rng_bit_generator %key.arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
    %4:2 = stablehlo.optimization_barrier %1, %3 : tensor<4xui32>, tensor<2xui32>
    return %4#1 : tensor<2xui32>
  }
}
