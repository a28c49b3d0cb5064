package collect

// rusageUnit is the unit of ru_maxrss in bytes.
const rusageUnit = 1024
