module @hone {
  func.func public @main(%cache.arg0: tensor<8x2xf32> {tf.aliasing_output = 0 : i32}, %x.arg1: tensor<1x2xf32>, %at.arg2: tensor<i32>) -> (tensor<8x2xf32>) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %cache.arg0, %x.arg1, %at.arg2, %0 : (tensor<8x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
    return %1 : tensor<8x2xf32>
  }
}
