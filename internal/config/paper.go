package config

import "fmt"

// Paper is the row of a table of Romero and Lohit, "Learning Partial
// Equivariances from Data" (NeurIPS 2022, arXiv 2110.10211), that a preset stands
// for.
type Paper struct {
	Table string `json:"table"`
	Row   string `json:"row"`
	// Accuracy is the fraction of the test images that the row states; 0: it is not
	// known here, look it up in the paper.
	Accuracy float64 `json:"accuracy,omitzero"`
}

func (p Paper) String() string {
	if p.Accuracy == 0 {
		return p.Table + ", " + p.Row
	}
	return fmt.Sprintf("%s, %s: %.4f", p.Table, p.Row, p.Accuracy)
}

// mainTable compares groups, and numbers of elements of them, on RotMNIST, CIFAR-10
// and CIFAR-100.
const mainTable = "main table"

// kernelTable compares networks that render kernels, chainTable has the 13-layer CNN, and
// ablationTable the penalty on subsets that grow.
const (
	kernelTable   = "kernel networks"
	chainTable    = "13-layer CNN"
	ablationTable = "ablation"
)

// toyTable compares partial and full equivariance on tasks that full equivariance
// cannot solve.
const toyTable = "toy tasks"

// papers are the rows by the names of the presets. Only numbers that are certain
// stand here. (The paper's table of ablations has .8745 where its main table has
// .8911.)
var papers = map[string]Paper{
	"mnist6-180-se2-8-partial":  {toyTable, "MNIST6-180, partial SE(2)", 1},
	"mnist6-180-se2-8-full":     {toyTable, "MNIST6-180, SE(2)", .5},
	"mnist6-180-e2-16-partial":  {toyTable, "MNIST6-180, partial E(2)", 1},
	"mnist6-180-e2-16-full":     {toyTable, "MNIST6-180, E(2)", .5},
	"mnist6-m-mirror-2-partial": {toyTable, "MNIST6-M, partial mirroring", 1},
	"mnist6-m-mirror-2-full":    {toyTable, "MNIST6-M, mirroring", .5},
	"mnist6-m-e2-16-partial":    {toyTable, "MNIST6-M, partial E(2)", 1},
	"mnist6-m-e2-16-full":       {toyTable, "MNIST6-M, E(2)", .5},

	"rotmnist-t2-1":           {mainTable, "RotMNIST, T(2)", 0},
	"rotmnist-se2-4-full":     {mainTable, "RotMNIST, SE(2), 4 elements", 0},
	"rotmnist-se2-4-partial":  {mainTable, "RotMNIST, partial SE(2), 4 elements", 0},
	"rotmnist-se2-16-full":    {mainTable, "RotMNIST, SE(2), 16 elements", 0},
	"rotmnist-se2-16-partial": {mainTable, "RotMNIST, partial SE(2), 16 elements", 0},
	"rotmnist-e2-8-full":      {mainTable, "RotMNIST, E(2), 8 elements", 0},
	"rotmnist-e2-8-partial":   {mainTable, "RotMNIST, partial E(2), 8 elements", 0},
	"rotmnist-se2-8-full":     {mainTable, "RotMNIST, SE(2), 8 elements", 0},
	"rotmnist-se2-8-partial":  {mainTable, "RotMNIST, partial SE(2), 8 elements", 0},
	"rotmnist-e2-16-full":     {mainTable, "RotMNIST, E(2), 16 elements", 0},
	"rotmnist-e2-16-partial":  {mainTable, "RotMNIST, partial E(2), 16 elements", 0},
	"cifar10-t2-1":            {mainTable, "CIFAR-10, T(2)", 0},
	"cifar10-se2-4-full":      {mainTable, "CIFAR-10, SE(2), 4 elements", 0},
	"cifar10-se2-4-partial":   {mainTable, "CIFAR-10, partial SE(2), 4 elements", 0},
	"cifar10-e2-8-full":       {mainTable, "CIFAR-10, E(2), 8 elements", 0},
	"cifar10-e2-8-partial":    {mainTable, "CIFAR-10, partial E(2), 8 elements", 0},
	"cifar10-se2-8-full":      {mainTable, "CIFAR-10, SE(2), 8 elements", 0},
	"cifar10-se2-8-partial":   {mainTable, "CIFAR-10, partial SE(2), 8 elements", 0},
	"cifar10-se2-16-full":     {mainTable, "CIFAR-10, SE(2), 16 elements", 0},
	"cifar10-se2-16-partial":  {mainTable, "CIFAR-10, partial SE(2), 16 elements", .8911},
	"cifar10-e2-16-full":      {mainTable, "CIFAR-10, E(2), 16 elements", 0},
	"cifar10-e2-16-partial":   {mainTable, "CIFAR-10, partial E(2), 16 elements", 0},
	"cifar100-t2-1":           {mainTable, "CIFAR-100, T(2)", 0},
	"cifar100-se2-4-full":     {mainTable, "CIFAR-100, SE(2), 4 elements", 0},
	"cifar100-se2-4-partial":  {mainTable, "CIFAR-100, partial SE(2), 4 elements", 0},
	"cifar100-e2-8-full":      {mainTable, "CIFAR-100, E(2), 8 elements", 0},
	"cifar100-e2-8-partial":   {mainTable, "CIFAR-100, partial E(2), 8 elements", 0},
	"cifar100-se2-8-full":     {mainTable, "CIFAR-100, SE(2), 8 elements", 0},
	"cifar100-se2-8-partial":  {mainTable, "CIFAR-100, partial SE(2), 8 elements", 0},
	"cifar100-se2-16-full":    {mainTable, "CIFAR-100, SE(2), 16 elements", 0},
	"cifar100-se2-16-partial": {mainTable, "CIFAR-100, partial SE(2), 16 elements", 0},
	"cifar100-e2-16-full":     {mainTable, "CIFAR-100, E(2), 16 elements", 0},
	"cifar100-e2-16-partial":  {mainTable, "CIFAR-100, partial E(2), 16 elements", 0},

	"rotmnist-se2-8-full-relu":      {kernelTable, "RotMNIST, ReLU, SE(2), 8 elements", 0},
	"rotmnist-se2-8-full-leakyrelu": {kernelTable, "RotMNIST, LeakyReLU, SE(2), 8 elements", 0},
	"rotmnist-se2-8-full-swish":     {kernelTable, "RotMNIST, Swish, SE(2), 8 elements", 0},

	"cifar10-t2-1-13layer":          {chainTable, "CIFAR-10, T(2)", 0},
	"cifar10-se2-4-full-13layer":    {chainTable, "CIFAR-10, SE(2), 4 elements", 0},
	"cifar10-se2-4-partial-13layer": {chainTable, "CIFAR-10, partial SE(2), 4 elements", 0},

	"cifar10-se2-16-partial-monotonic": {ablationTable, "CIFAR-10, monotonic, partial SE(2), 16 elements", 0},
}

// Paper returns the row that p stands for, and whether there is one.
func (p Preset) Paper() (Paper, bool) {
	row, ok := papers[p.Name]
	return row, ok
}
