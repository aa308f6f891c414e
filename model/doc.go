// Package model holds the networks, their training and their checkpoints.
//
// The networks are those of Romero & Lohit, "Learning Partial Equivariances from
// Data" (NeurIPS 2022): NewCKResNet makes the residual network, NewGCNN the chain
// of convolutions that the paper calls 13-layer CNN. Both are a Network. With
// Partial in its configuration every group convolution learns the subset of the
// group that its outputs live on; Subsets shows what was learned. With Augerino the
// network is one on translations, and learns one subset for copies of its images.
//
// A network is made on the host (NewCKResNet, NewGCNN, Load), trained (Train, or step by
// step with a Trainer), saved (Save) and, for predictions, frozen (Freeze):
//
//	net, err := model.NewCKResNet(model.CKResNetConfig{Partial: true, Classes: 2})
//	run, err := model.Train(ctx, net, set, model.TrainConfig{Epochs: 10, Seed: 1})
//	frozen, err := net.Freeze(model.FreezeConfig{})
//	logits, err := frozen.Predict(images)
//
// Other programs take a network as ONNX (Frozen.SaveONNX) or as the state dictionary of
// the published PyTorch program (SaveStateDict, LoadStateDict).
//
// Equivariance measures how far a network is from being equivariant to rotations and
// reflections, layer by layer and end to end, and what that comes of.
//
// Randomness is a function of (seed, layer or epoch, step): the same seed, level
// and data give the same bits for any number of threads, and a run restored from
// a saved state ends with the bits of one that was never stopped.
package model
