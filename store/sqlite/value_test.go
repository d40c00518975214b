package sqlite

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ragagent/store"
)

func TestVectorsComeBackBitByBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Uint32(), 1, 40).Draw(t, "bits")
		v := make([]float32, len(want))
		for i, bits := range want {
			v[i] = math.Float32frombits(bits)
		}
		got, err := decodeVector(encodeVector(nil, v))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if math.Float32bits(x) != want[i] {
				t.Fatalf("element %d is %x, want %x", i, math.Float32bits(x), want[i])
			}
		}
	})
}

func TestTimesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Unix(0, rapid.Int64Range(1, math.MaxInt64).Draw(t, "nanoseconds")).UTC()
		stored, err := timestamp{&want}.Value()
		if err != nil {
			t.Fatal(err)
		}
		var got time.Time
		if err := (timestamp{&got}).Scan(stored); err != nil || got != want {
			t.Fatalf("%v came back as %v, %v", want, got, err)
		}
	})
	var zero time.Time
	stored, err := timestamp{&zero}.Value()
	got := time.Now()
	if scanErr := (timestamp{&got}).Scan(stored); err != nil || scanErr != nil || !got.IsZero() {
		t.Errorf("the zero time came back as %v, %v, %v", got, err, scanErr)
	}
}

func TestMetadataComeBack(t *testing.T) {
	property := rapid.OneOf(
		rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.SliceOf(rapid.String()).AsAny(),
		rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).AsAny(),
	)
	rapid.Check(t, func(t *rapid.T) {
		want := store.Metadata(rapid.MapOf(rapid.StringN(1, 20, 80), property).Draw(t, "metadata"))
		stored, err := metadata{&want}.Value()
		if err != nil {
			t.Fatal(err)
		}
		var got store.Metadata
		if err := (metadata{&got}).Scan(stored); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("metadata (-want +got):\n%s", diff)
		}
	})
}
