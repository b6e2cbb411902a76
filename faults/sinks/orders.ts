import { createInterface } from 'node:readline';

/** What a process of a run is told on its standard input, a line each; where that ends, so does the process. */
export function takeOrders(onOrder: (order: string) => void): void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', onOrder);
  lines.on('close', () => process.exit());
}

/** What the run told it at its start. */
export function argument(name: string): string {
  const value = process.env[`FAULTS_${name}`];
  if (value === undefined) throw new Error(`FAULTS_${name} is not set`);
  return value;
}

export function sayReady(facts: Record<string, string | number>): void {
  const words = Object.entries(facts).map(([name, value]) => `${name}=${value}`);
  process.stdout.write(`ready ${words.join(' ')}\n`);
}
