import { createInterface } from 'node:readline';

/** Reads commands from standard input, one per line. The process exits when the input ends. */
export function readCommands(onCommand: (order: string) => void): void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', onCommand);
  lines.on('close', () => process.exit());
}

/** Returns an argument that the run passed at the start. */
export function argument(name: string): string {
  const value = process.env[`FAULTS_${name}`];
  if (value === undefined) throw new Error(`FAULTS_${name} is not set`);
  return value;
}

export function reportReady(facts: Record<string, string | number>): void {
  const words = Object.entries(facts).map(([name, value]) => `${name}=${value}`);
  process.stdout.write(`ready ${words.join(' ')}\n`);
}
