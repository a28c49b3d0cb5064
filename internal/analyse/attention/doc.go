// Package attention recognises attention that operators write out one by one: a matrix product, a softmax of what it gives, and a product
// of that with the values. torch.nn.functional.scaled_dot_product_attention computes the same without the matrix of weights in memory.
//
// It does not know what called the operators, nor what another form would save.
package attention
