// Package records has what every client sends and shows: interop/broker/src/clients.rs has the same.
package records

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

const (
	// Seconds is how long anything may take.
	Seconds = 120
	// Partitions is how many a topic has.
	Partitions = 3
)

// Args are those of an operation: its topic, and what else it takes.
type Args struct {
	Bootstrap string
	Topic     string
	More      []string
}

// Operation is what a client can do.
type Operation func(Args)

// Main carries out what the command line asks for.
func Main(operations map[string]Operation) {
	args := Args{Bootstrap: os.Args[2], Topic: os.Args[3], More: os.Args[4:]}
	operations[os.Args[1]](args)
}

// Number is an argument.
func (a Args) Number(index int) int {
	number, err := strconv.Atoi(a.More[index])
	Check(err)
	return number
}

// Numbers are those of the records to produce.
func (a Args) Numbers() []int {
	var numbers []int
	for number := range a.Number(2) {
		numbers = append(numbers, a.Number(1)+number)
	}
	return numbers
}

// Idempotent is whether an idempotent producer is asked for.
func (a Args) Idempotent() bool {
	return a.More[3] == "idempotent"
}

// Check ends the process with an error.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Partition is where a record belongs.
func Partition(number int) int32 {
	return int32(number % Partitions)
}

// Key is that of a record.
func Key(number int) []byte {
	return []byte(strconv.Itoa(number))
}

// Value is that of a record.
func Value(number int) []byte {
	return []byte(fmt.Sprintf("record-%d-%s", number, strings.Repeat("x", number%100)))
}

// Show prints a record that was read.
func Show(partition int32, offset int64, key, value []byte) {
	fmt.Printf("%d %d %s %s\n", partition, offset, key, value)
}
