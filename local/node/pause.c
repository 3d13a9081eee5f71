/* The program of a pod's sandbox: holds the namespaces, reaps orphans, ends when told to. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void reap(int number) {
  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

static void stop(int number) {
  (void)number;
  _exit(0);
}

int main(void) {
  struct sigaction on_child = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
  struct sigaction on_stop = {.sa_handler = stop};
  sigaction(SIGCHLD, &on_child, NULL);
  sigaction(SIGINT, &on_stop, NULL);
  sigaction(SIGTERM, &on_stop, NULL);
  for (;;) pause();
}
