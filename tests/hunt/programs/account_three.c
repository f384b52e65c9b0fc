// Two fields of an account have a lock each; who asks for both may see a transfer half done.
#include "planted.h"

static pthread_mutex_t cash_lock = PTHREAD_MUTEX_INITIALIZER,
                       stock_lock = PTHREAD_MUTEX_INITIALIZER;
static int cash = 100, stock = 0;

static void* buy(void* unused) {
  FIX(lock();)
  pthread_mutex_lock(&cash_lock);
  cash -= 30;
  pthread_mutex_unlock(&cash_lock);
  pthread_mutex_lock(&stock_lock);
  stock += 30;
  pthread_mutex_unlock(&stock_lock);
  FIX(unlock();)
  return unused;
}

static void* ask(void* unused) {
  FIX(lock();)
  pthread_mutex_lock(&cash_lock);
  pthread_mutex_lock(&stock_lock);
  const int worth = cash + stock;
  pthread_mutex_unlock(&stock_lock);
  pthread_mutex_unlock(&cash_lock);
  FIX(unlock();)
  REQUIRE(worth == 100);
  return unused;
}

int main(void) {
  RUN(ask, buy, buy);
  return 0;
}
