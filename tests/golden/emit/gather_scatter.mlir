module @hone {
  func.func public @main(%table.arg0: tensor<7x2xf32>, %rows.arg1: tensor<3xi32>) -> (tensor<7x2xf32>) {
    %0 = stablehlo.constant dense<1.00000000000000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %2 = stablehlo.constant dense<0.00000000000000000e+00> : tensor<7x2xf32>
    %3 = "stablehlo.scatter"(%2, %rows.arg1, %1) ({
    ^bb0(%scatter.a: tensor<f32>, %scatter.b: tensor<f32>):
      %scatter.sum = stablehlo.add %scatter.a, %scatter.b : tensor<f32>
      stablehlo.return %scatter.sum : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<7x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<7x2xf32>
    return %3 : tensor<7x2xf32>
  }
}
