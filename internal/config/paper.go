package config

import "fmt"

// Paper is the row of a table of Romero and Lohit, "Learning Partial
// Equivariances from Data" (NeurIPS 2022, arXiv 2110.10211), that a preset stands
// for.
type Paper struct {
	Table string `json:"table"`
	Row   string `json:"row"`
	// Accuracy is the fraction of the test images that the row states; 0: the number is
	// not at hand, look it up in the paper.
	Accuracy float64 `json:"accuracy,omitzero"`
	// Also is the row of another table for the same network, or nil.
	Also *Paper `json:"also,omitempty"`
}

func (p Paper) String() string {
	s := p.Table + ", " + p.Row + ": "
	if p.Accuracy == 0 {
		s += "number not at hand"
	} else {
		s += fmt.Sprintf("%.4f", p.Accuracy)
	}
	if p.Also != nil {
		s += "; " + p.Also.String()
	}
	return s
}

// mainTable compares groups, and numbers of elements of them, on RotMNIST, CIFAR-10
// and CIFAR-100.
const mainTable = "main table"

// kernelTable compares networks that render kernels, chainTable has the 13-layer CNN,
// augerinoTable one subset for the whole network, and ablationTable the penalty on subsets
// that grow, the learned pooling and the last convolution on the plane.
const (
	kernelTable   = "kernel networks"
	chainTable    = "13-layer CNN"
	augerinoTable = "Augerino"
	ablationTable = "ablation"
)

// toyTable compares partial and full equivariance on tasks that full equivariance
// cannot solve.
const toyTable = "toy tasks"

// papers are the rows by the names of the presets. Only numbers that are certain
// stand here.
var papers = map[string]Paper{
	"mnist6-180-se2-8-partial":  {toyTable, "MNIST6-180, partial SE(2)", 1, nil},
	"mnist6-180-se2-8-full":     {toyTable, "MNIST6-180, SE(2)", .5, nil},
	"mnist6-180-e2-16-partial":  {toyTable, "MNIST6-180, partial E(2)", 1, nil},
	"mnist6-180-e2-16-full":     {toyTable, "MNIST6-180, E(2)", .5, nil},
	"mnist6-m-mirror-2-partial": {toyTable, "MNIST6-M, partial mirroring", 1, nil},
	"mnist6-m-mirror-2-full":    {toyTable, "MNIST6-M, mirroring", .5, nil},
	"mnist6-m-e2-16-partial":    {toyTable, "MNIST6-M, partial E(2)", 1, nil},
	"mnist6-m-e2-16-full":       {toyTable, "MNIST6-M, E(2)", .5, nil},

	"rotmnist-t2-1":           {mainTable, "RotMNIST, T(2)", 0, nil},
	"rotmnist-se2-4-full":     {mainTable, "RotMNIST, SE(2), 4 elements", 0, nil},
	"rotmnist-se2-4-partial":  {mainTable, "RotMNIST, partial SE(2), 4 elements", 0, nil},
	"rotmnist-se2-16-full":    {mainTable, "RotMNIST, SE(2), 16 elements", 0, nil},
	"rotmnist-se2-16-partial": {mainTable, "RotMNIST, partial SE(2), 16 elements", 0, nil},
	"rotmnist-e2-8-full":      {mainTable, "RotMNIST, E(2), 8 elements", 0, nil},
	"rotmnist-e2-8-partial":   {mainTable, "RotMNIST, partial E(2), 8 elements", 0, nil},
	"rotmnist-se2-8-full":     {mainTable, "RotMNIST, SE(2), 8 elements", 0, nil},
	"rotmnist-se2-8-partial":  {mainTable, "RotMNIST, partial SE(2), 8 elements", 0, nil},
	"rotmnist-e2-16-full":     {mainTable, "RotMNIST, E(2), 16 elements", 0, nil},
	"rotmnist-e2-16-partial":  {mainTable, "RotMNIST, partial E(2), 16 elements", 0, nil},
	"cifar10-t2-1":            {mainTable, "CIFAR-10, T(2)", 0, nil},
	"cifar10-se2-4-full":      {mainTable, "CIFAR-10, SE(2), 4 elements", 0, nil},
	"cifar10-se2-4-partial":   {mainTable, "CIFAR-10, partial SE(2), 4 elements", 0, nil},
	"cifar10-e2-8-full":       {mainTable, "CIFAR-10, E(2), 8 elements", 0, nil},
	"cifar10-e2-8-partial":    {mainTable, "CIFAR-10, partial E(2), 8 elements", 0, nil},
	"cifar10-se2-8-full":      {mainTable, "CIFAR-10, SE(2), 8 elements", 0, nil},
	"cifar10-se2-8-partial":   {mainTable, "CIFAR-10, partial SE(2), 8 elements", 0, nil},
	"cifar10-se2-16-full":     {mainTable, "CIFAR-10, SE(2), 16 elements", 0, nil},
	"cifar10-se2-16-partial":  {mainTable, "CIFAR-10, partial SE(2), 16 elements", .8911, &Paper{ablationTable, "CIFAR-10, partial SE(2), 16 elements", .8745, nil}},
	"cifar10-e2-16-full":      {mainTable, "CIFAR-10, E(2), 16 elements", 0, nil},
	"cifar10-e2-16-partial":   {mainTable, "CIFAR-10, partial E(2), 16 elements", 0, nil},
	"cifar100-t2-1":           {mainTable, "CIFAR-100, T(2)", 0, nil},
	"cifar100-se2-4-full":     {mainTable, "CIFAR-100, SE(2), 4 elements", 0, nil},
	"cifar100-se2-4-partial":  {mainTable, "CIFAR-100, partial SE(2), 4 elements", 0, nil},
	"cifar100-e2-8-full":      {mainTable, "CIFAR-100, E(2), 8 elements", 0, nil},
	"cifar100-e2-8-partial":   {mainTable, "CIFAR-100, partial E(2), 8 elements", 0, nil},
	"cifar100-se2-8-full":     {mainTable, "CIFAR-100, SE(2), 8 elements", 0, nil},
	"cifar100-se2-8-partial":  {mainTable, "CIFAR-100, partial SE(2), 8 elements", 0, nil},
	"cifar100-se2-16-full":    {mainTable, "CIFAR-100, SE(2), 16 elements", 0, nil},
	"cifar100-se2-16-partial": {mainTable, "CIFAR-100, partial SE(2), 16 elements", 0, nil},
	"cifar100-e2-16-full":     {mainTable, "CIFAR-100, E(2), 16 elements", 0, nil},
	"cifar100-e2-16-partial":  {mainTable, "CIFAR-100, partial E(2), 16 elements", 0, nil},

	"rotmnist-se2-8-full-relu":      {kernelTable, "RotMNIST, ReLU, SE(2), 8 elements", 0, nil},
	"rotmnist-se2-8-full-leakyrelu": {kernelTable, "RotMNIST, LeakyReLU, SE(2), 8 elements", 0, nil},
	"rotmnist-se2-8-full-swish":     {kernelTable, "RotMNIST, Swish, SE(2), 8 elements", 0, nil},

	"cifar10-t2-1-13layer":          {chainTable, "CIFAR-10, T(2)", 0, nil},
	"cifar10-se2-4-full-13layer":    {chainTable, "CIFAR-10, SE(2), 4 elements", 0, nil},
	"cifar10-se2-4-partial-13layer": {chainTable, "CIFAR-10, partial SE(2), 4 elements", 0, nil},

	"cifar10-se2-8-augerino":  {augerinoTable, "CIFAR-10, SE(2)", 0, nil},
	"cifar10-e2-8-augerino":   {augerinoTable, "CIFAR-10, E(2)", 0, nil},
	"cifar100-se2-8-augerino": {augerinoTable, "CIFAR-100, SE(2)", 0, nil},
	"cifar100-e2-8-augerino":  {augerinoTable, "CIFAR-100, E(2)", 0, nil},

	"cifar10-se2-16-partial-monotonic": {ablationTable, "CIFAR-10, monotonic, partial SE(2), 16 elements", 0, nil},
	"rotmnist-se2-8-partial-monotonic": {mainTable, "RotMNIST, as its published command has it, partial SE(2), 8 elements", 0, nil},
	"cifar10-se2-8-full-learnedpool":   {ablationTable, "CIFAR-10, learned pooling, SE(2)", 0, nil},
	"cifar10-e2-8-full-learnedpool":    {ablationTable, "CIFAR-10, learned pooling, E(2)", 0, nil},
	"cifar100-e2-8-full-lastt2":        {ablationTable, "CIFAR-100, last convolution on T(2), E(2)", 0, nil},
}

// Paper returns the row that p stands for, and whether there is one.
func (p Preset) Paper() (Paper, bool) {
	row, ok := papers[p.Name]
	return row, ok
}
