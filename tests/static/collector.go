// The collector under load, select with times, a ticker, and a panic that ends the program.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

type node struct{ left, right *node }

func build(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{build(depth - 1), build(depth - 1)}
}

func (n *node) count() int {
	if n.left == nil {
		return 1
	}
	return 1 + n.left.count() + n.right.count()
}

func main() {
	runtime.GOMAXPROCS(4)
	var wait sync.WaitGroup
	counts := make([]int, 6)
	for g := range counts {
		wait.Add(1)
		go func(g int) {
			defer wait.Done()
			for i := 0; i < 6; i++ {
				counts[g] += build(9).count()
			}
		}(g)
	}
	wait.Wait()
	fmt.Println(counts)
	numbers, done := make(chan int), make(chan struct{})
	go func() {
		for i := 0; i < 100; i++ {
			numbers <- i
		}
		close(done)
	}()
	sum, open := 0, true
	for open {
		select {
		case number := <-numbers:
			sum += number
		case <-done:
			open = false
		case <-time.After(time.Minute):
			fmt.Println("late")
		}
	}
	ticker := time.NewTicker(time.Millisecond)
	for i := 0; i < 3; i++ {
		<-ticker.C
	}
	ticker.Stop()
	fmt.Println(sum)
	defer func() {
		fmt.Println("recovered", recover())
		var nothing map[string]int
		nothing["x"] = 1
	}()
	panic("thrown")
}
