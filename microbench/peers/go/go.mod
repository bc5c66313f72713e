module mely/peers

go 1.19
