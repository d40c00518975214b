package chromem

import (
	"testing"

	"ragagent/store"
	"ragagent/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.TestVectorIndex(t, func(*testing.T) store.VectorIndex { return New(Config{}) })
}

func TestConformanceOfPortableKernels(t *testing.T) {
	storetest.TestVectorIndex(t, func(*testing.T) store.VectorIndex {
		x := New(Config{})
		x.kernels = portable()
		return x
	})
}
