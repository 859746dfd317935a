module @hone {
  func.func public @main(%x.arg0: tensor<2xf32>, %w.arg1: tensor<3x2xf32>, %b.arg2: tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.constant dense<0.00000000000000000e+00> : tensor<3x2xf32>
    %19:5 = stablehlo.while(%1 = %0, %2 = %x.arg0, %3 = %4, %5 = %w.arg1, %6 = %b.arg2) : tensor<i32>, tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2xf32>
    cond {
    %7 = stablehlo.constant dense<3> : tensor<i32>
    %8 = stablehlo.compare LT, %1, %7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %8 : tensor<i1>
    } do {
    %9 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.constant dense<1> : tensor<i32>
    %11 = stablehlo.dynamic_slice %5, %1, %9, sizes = [1, 2] : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x2xf32>) -> tensor<2xf32>
    %13 = stablehlo.multiply %2, %12 : tensor<2xf32>
    %14 = stablehlo.add %13, %6 : tensor<2xf32>
    %15 = stablehlo.tanh %2 : tensor<2xf32>
    %16 = stablehlo.add %1, %10 : tensor<i32>
    %17 = stablehlo.reshape %15 : (tensor<2xf32>) -> tensor<1x2xf32>
    %18 = stablehlo.dynamic_update_slice %3, %17, %1, %9 : (tensor<3x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
    stablehlo.return %16, %14, %18, %5, %6 : tensor<i32>, tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2xf32>
    }
    return %19#1, %19#2 : tensor<2xf32>, tensor<3x2xf32>
  }
}
