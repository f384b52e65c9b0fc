// Of opened_openmp: work that a runtime of OpenMP hands out, which only this library has.
long work(long pieces) {
  long sum = 0, sections = 0, singles = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum, sections, singles)
  {
#pragma omp single
    singles += 1;
#pragma omp for schedule(dynamic, 1)
    for (long i = 0; i < pieces; ++i) sum += i;
#pragma omp for schedule(guided, 2)
    for (long i = 0; i < pieces; ++i) sum += i;
#pragma omp sections
    {
#pragma omp section
      sections += 10;
#pragma omp section
      sections += 100;
    }
  }
  return sum + 1000000 * sections + 1000000000 * singles;
}
