import { type ChildProcess, spawn } from 'node:child_process';

/** Runs the server, restarted at each change, and the dashboard served by Vite. */
const WATCHED = ['packages/server/src', 'packages/postgres/src', 'packages/contract/src'].map(
  (path) => `--watch-path=${path}`,
);
const children: ChildProcess[] = [
  start([...WATCHED, 'packages/server/src/main/main.ts', 'serve']),
  start(['node_modules/vite/bin/vite.js', 'packages/dashboard', '--clearScreen', 'false']),
];

function start(args: string[]): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  // If one of them exits, the other is stopped too.
  child.once('exit', (code) => {
    process.exitCode ??= code ?? 1;
    for (const other of children) other.kill('SIGTERM');
  });
  return child;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const child of children) child.kill('SIGTERM');
  });
