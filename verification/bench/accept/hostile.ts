import { median } from '../measure.ts';
import { ms } from '../print.ts';
import type { Stage } from './stage.ts';

const BODY_BYTES = 256 * 1024;
const TIMES = 20;

/** Bodies of a quarter of a megabyte that are invalid in costly ways. The benchmark measures how long one caller waits for the refusal. */
const HOSTILE: Record<string, string> = {
  'nested 100,000 deep': filled('{"external_user_id":"u","name":"n","properties":', '[', ']'.repeat(100_000)),
  'one key after the other': `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
  'numbers beyond a double': `{"properties":{"n":[${'1e400,'.repeat(40_000)}1]}}`,
  'escaped NUL all over': `{"external_user_id":"u","name":"${'\\u0000'.repeat(40_000)}"}`,
  'lone surrogates': `{"external_user_id":"u","name":"n","properties":{"s":"${'\\ud800'.repeat(40_000)}"}}`,
  'no JSON at the very end': `{"external_user_id":"u","name":"${'x'.repeat(250_000)}"`,
  'a list of bad lists': `{"properties":{"l":[${'[],'.repeat(80_000)}[]]}}`,
};

export async function hostile(stage: Stage): Promise<string[][]> {
  const { secret } = await stage.project();
  const rows: string[][] = [];
  for (const [name, body] of Object.entries(HOSTILE)) {
    const latencies: number[] = [];
    let status = 0;
    for (let i = 0; i < TIMES; i += 1) {
      const startedAt = performance.now();
      const answer = await fetch(`http://127.0.0.1:${stage.real.port}/api/v1/events`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${secret}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': `${name.length}-${i}`,
        },
        body: body.slice(0, BODY_BYTES),
      });
      await answer.text();
      latencies.push(performance.now() - startedAt);
      ({ status } = answer);
    }
    rows.push([name, String(status), ms(median(latencies)), ms(Math.max(...latencies))]);
  }
  return rows;
}

function filled(head: string, unit: string, tail: string): string {
  return `${head}${unit.repeat(tail.length)}${tail}}`;
}
