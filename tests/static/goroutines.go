// Goroutines, channels, locks, atomics, the collector, preemption, a timer, a program that is executed, a fault.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i * i % 7
	}
	return s
}

func main() {
	runtime.GOMAXPROCS(4)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	var counted int64
	counts := map[int]int{}
	out := make(chan int, 4)
	for g := 0; g < 8; g++ {
		wait.Add(1)
		go func(g int) {
			defer wait.Done()
			for i := 0; i < 500; i++ {
				atomic.AddInt64(&counted, 1)
				mutex.Lock()
				counts[g]++
				mutex.Unlock()
				if i%100 == 0 {
					out <- g
				}
				_ = make([]byte, 1024)
			}
			spin(5000000)
		}(g)
	}
	go func() { wait.Wait(); close(out) }()
	sum := 0
	for g := range out {
		sum += g
	}
	runtime.GC()
	fmt.Println(counted, len(counts), counts[3], sum)
	said, err := exec.Command("sh", "-c", "echo from sh").Output()
	fmt.Println(strings.TrimSpace(string(said)), err)
	<-time.After(2 * time.Millisecond)
	self, _ := os.Executable()
	fmt.Println(self[strings.LastIndex(self, "/")+1:], os.Args[1:])
	defer func() {
		fmt.Println(recover())
		os.Exit(7)
	}()
	var nothing *int
	fmt.Println(*nothing)
}
