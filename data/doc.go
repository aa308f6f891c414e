// Package data holds the sets of images that networks are trained and tested
// on, and gets them: from files on disk, from the network when asked, or from a
// generator that needs neither.
//
// A Dataset lies in memory as bytes, in three parts. Training reads Train;
// choosing among epochs or settings reads Validation; Test is read once, at the
// end. Order gives the order of an epoch and Batch gathers and normalises images
// [B, C, H, W] for a network; neither allocates. A Loader prepares the batches of
// training steps ahead of them, changed at random where an Augmentation says so.
//
// The sets:
//
//   - MNIST6180, "mnist6-180": the sixes of MNIST upright and turned by 180
//     degrees, and MNIST6M, "mnist6-m": upright and flipped left-right; the toy
//     tasks of Romero and Lohit, "Learning Partial Equivariances from Data"
//     (NeurIPS 2022). MNIST6Circle, "mnist6-circle", is the first as their text
//     describes it: sixes turned by any angle, by less than 90 degrees or not.
//     ReadMNIST reads the four published files, and accepts nothing else.
//   - ReadRotMNIST, "rotmnist": digits turned through the whole circle (Larochelle
//     et al. 2007), and SyntheticRotMNIST, "rotmnist-synthetic", which makes such
//     digits from MNIST. The Dataset of the latter says Synthetic.
//   - ReadCIFAR10, "cifar10", and ReadCIFAR100, "cifar100": photographs of ten
//     and of a hundred classes (Krizhevsky 2009). ReadCIFAR10Part, "cifar10-part", and
//     ReadCIFAR10JPEG, "cifar10-jpeg", read a part and a lossy copy of the former.
//   - ReadSTL10, "stl10": larger photographs of ten classes (Coates et al. 2011).
//   - ReadPCam, "pcam": histological patches with and without tumour tissue
//     (Veeling et al. 2018), whose parts its authors made.
//   - ReadFashionMNIST, "fashion-mnist": articles of clothing, in the format of
//     MNIST (Xiao et al. 2017).
//   - ReadImages, "images": anybody's, in a folder for each class.
//   - Strokes6180, "strokes6-180": the first of these tasks with synthetic sixes
//     that look handwritten. Its Dataset says Synthetic.
//
// A network whose features are invariant to all rotations sees no difference
// between an image x and x turned by 180 degrees, so on the first task its answer
// to both is one and the same, and exactly one of the two answers is wrong: its
// accuracy is 1/2 whatever it learns. The tasks tell apart networks that can give
// up a part of their symmetry from those that cannot.
//
// # Where files are looked for
//
// Locate looks in a directory that the user names; or else in $NOETHER_DATA and
// in noether in the user's cache directory. Download fills such a directory from
// mirrors, over HTTPS, checked by size and SHA-256, and never leaves half a file
// under a file's name. It takes CIFAR-10, CIFAR-100, STL-10 and RotMNIST out of the
// archives that they are published in (of the last only the MD5 is known).
// PatchCamelyon, and parts and lossy copies of CIFAR-10, must be fetched by hand.
//
// # Randomness
//
// Everything random is a function of a seed through counter-based streams
// (package internal/stream), keyed by what it is for: the split into training
// and validation, the order of each epoch, each drawing. The same seed gives the
// same bytes on every architecture.
//
// # Errors
//
// What a file, a directory or a server may have wrong comes back as a *FileError:
// one line that says where, what was found, and what to do. Mistakes in a call,
// such as an index beyond the set, panic with *Error.
package data
