import { readFileSync } from 'node:fs';

/** A connection attempt of the processes, from the kernel's trace: every `connect` to a network address. */
export type ConnectionAttempt = { address: string; port: number };

const V4 =
  /^(?:\d+ +)?(?:connect\(|<\.\.\. ).*?sa_family=AF_INET, sin_port=htons\((\d+)\), sin_addr=inet_addr\("([^"]+)"\)/;
const V6 =
  /^(?:\d+ +)?connect\(.*?sa_family=AF_INET6, sin6_port=htons\((\d+)\).*?inet_pton\(AF_INET6, "([^"]+)"/;

export function readTrace(text: string): ConnectionAttempt[] {
  return text.split('\n').flatMap((line) => {
    const match = V4.exec(line) ?? V6.exec(line);
    return match ? [{ port: Number(match[1]), address: match[2] ?? '' }] : [];
  });
}

export function readTraceFile(path: string): ConnectionAttempt[] {
  return readTrace(readFileSync(path, 'utf8'));
}

/** Returns the strace command that records connections and delays nothing else. The program stays our child process. */
export function straceCommand(file: string): string[] {
  return [
    'strace',
    '-D',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-e',
    'trace=connect',
    '-e',
    'signal=none',
    '-o',
    file,
  ];
}
