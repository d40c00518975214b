//go:build !linux

package parse

const probeArgument = "-ragagent-parse-probe"

func probe() {}
