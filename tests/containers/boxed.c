// Runs a program as a container's runtime would start it: with a filter of system calls, as another
// user, without capabilities.
//
// usage: boxed [--user=UID] [--drop] [--allow=CALL]... PROFILE[,PROFILE]... PROGRAM...
//   docker, podman   what their default profiles refuse (EPERM; clone3 and unknown calls ENOSYS)
//   NAME             a system call alone: ptrace, memfd_create, perf_event_open, personality (all
//                    values but the five that Docker allows), userfaultfd, seccomp, clone3,
//                    process_vm
//   none             no filter
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMost = 400 };
static struct sock_filter filter[kMost];
static int count;

static void put(struct sock_filter one) { filter[count++] = one; }

struct call {
  const char* name;
  int number, error;
};

// Of Docker's default profile without added capabilities (moby, profiles/seccomp); podman's is the
// same in these but for the kernel's keys.
static const struct call kRefused[] = {
    {"userfaultfd", SYS_userfaultfd, EPERM},
    {"perf_event_open", SYS_perf_event_open, EPERM},
    {"clone3", SYS_clone3, ENOSYS},
    {"bpf", SYS_bpf, EPERM},
    {"io_uring_setup", SYS_io_uring_setup, EPERM},
    {"io_uring_enter", SYS_io_uring_enter, EPERM},
    {"io_uring_register", SYS_io_uring_register, EPERM},
    {"keyctl", SYS_keyctl, EPERM},
    {"add_key", SYS_add_key, EPERM},
    {"request_key", SYS_request_key, EPERM},
    {"mount", SYS_mount, EPERM},
    {"umount2", SYS_umount2, EPERM},
    {"unshare", SYS_unshare, EPERM},
    {"setns", SYS_setns, EPERM},
    {"pivot_root", SYS_pivot_root, EPERM},
    {"fanotify_init", SYS_fanotify_init, EPERM},
    {"mbind", SYS_mbind, EPERM},
    {"set_mempolicy", SYS_set_mempolicy, EPERM},
    {"get_mempolicy", SYS_get_mempolicy, EPERM},
    {"kcmp", SYS_kcmp, EPERM},
    {"pidfd_getfd", SYS_pidfd_getfd, EPERM},
    {"process_madvise", SYS_process_madvise, EPERM},
    {"syslog", SYS_syslog, EPERM},
    {"vhangup", SYS_vhangup, EPERM},
};
static const struct call kSingle[] = {
    {"ptrace", SYS_ptrace, EPERM},
    {"memfd_create", SYS_memfd_create, EPERM},
    {"seccomp", SYS_seccomp, EPERM},
    {"process_vm", SYS_process_vm_readv, EPERM},
    {"process_vm", SYS_process_vm_writev, EPERM},
};

static void refuse(int number, int error) {
  put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
  put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
}

static void refuse_personality(void) {
  static const unsigned kAllowed[] = {0, 8, 0x20000, 0x20008, 0xffffffff};
  put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 8));
  put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                   offsetof(struct seccomp_data, args[0])));
  for (int i = 0; i < 5; i++)
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kAllowed[i], 5 - i, 0));
  put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

// clone with new namespaces.
static void refuse_namespaces(void) {
  put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
  put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                   offsetof(struct seccomp_data, args[0])));
  put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7e020000, 0, 1));
  put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static int has(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : 0) {
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == 0)) return 1;
  }
  return 0;
}

static void fail(const char* what) {
  perror(what);
  exit(99);
}

static void drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  for (int i = 0; i < 64; i++) prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
  if (syscall(SYS_capset, &header, none) != 0) fail("capset");
}

int main(int words, char** word) {
  unsigned user = 0;
  int drops = 0, at = 1;
  const char* allowed[16];
  int allowed_count = 0;
  for (; at < words && strncmp(word[at], "--", 2) == 0; at++) {
    if (sscanf(word[at], "--user=%u", &user) == 1) continue;
    if (strcmp(word[at], "--drop") == 0) drops = 1;
    else if (strncmp(word[at], "--allow=", 8) == 0 && allowed_count < 16)
      allowed[allowed_count++] = word[at] + 8;
    else return 98;
  }
  if (at + 1 >= words) return 98;
  const char* profiles = word[at];
  const int is_default = has(profiles, "docker") || has(profiles, "podman");
  if (user && (setgroups(0, 0) || setresgid(user, user, user) || setresuid(user, user, user)))
    fail("setresuid");
  if (drops && !user) drop_capabilities();

  put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
  put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
  for (size_t i = 0; i < sizeof kRefused / sizeof *kRefused; i++) {
    int is_allowed = has(profiles, "podman") && strstr(kRefused[i].name, "key");
    for (int j = 0; j < allowed_count; j++) is_allowed |= !strcmp(allowed[j], kRefused[i].name);
    if (!is_allowed && (is_default || has(profiles, kRefused[i].name)))
      refuse(kRefused[i].number, kRefused[i].error);
  }
  for (size_t i = 0; i < sizeof kSingle / sizeof *kSingle; i++) {
    if (has(profiles, kSingle[i].name)) refuse(kSingle[i].number, kSingle[i].error);
  }
  if (is_default) refuse_namespaces();
  if (is_default || has(profiles, "personality")) refuse_personality();
  put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  struct sock_fprog program = {(unsigned short)count, filter};
  if (!has(profiles, "none") && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                                 prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)))
    fail("seccomp");
  execvp(word[at + 1], word + at + 1);
  fail(word[at + 1]);
}
