// Races that stand in the annotated workloads to be found (PLANTED): number N in a build with
// -DWEIR_PLANT=N, else none.
#ifndef WEIR_BENCH_PLANTED_H
#define WEIR_BENCH_PLANTED_H

#ifndef WEIR_PLANT
#define WEIR_PLANT 0
#endif
#define PLANTED(number) ((number) == WEIR_PLANT)

#endif
