package lie

// Sim2 is the group of translations, rotations and scalings of the plane. Its
// stabiliser is the dilation-rotation group SO(2) x R+: an element is (angle,
// logarithm of the factor) as in SE2 and RPlus. Similarities that mirror too are
// those of DirectProduct(O2, RPlus).
var Sim2 Group = newProduct("Sim(2)", SO2, RPlus)
