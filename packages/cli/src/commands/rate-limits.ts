import { call, list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';
import { invalid, type OptionSource, text } from '../framework/options.ts';

export const rateLimits: Noun = {
  name: 'rate-limits',
  help: 'Show and change the rate limits of the public API',
  commands: [
    list('GET /projects/:project/rate-limits', 'list', {
      help: 'List the rate limit of every endpoint, in requests',
      row: fields('endpoint per_second=rate at_once=burst'),
      empty: 'No rate limits.',
    }),
    call('PATCH /projects/:project/rate-limits/:endpoint', 'set <endpoint>', {
      help: 'Set the rate limit of an endpoint. It applies in every process within a second.',
      args: { endpoint: 'users, users-bulk, events, events-batch or events-bulk' },
      options: {
        rate: text('--rate <number>', 'Requests per second in the long run', readNumber),
        burst: text('--burst <number>', 'Requests at once', readNumber),
      },
      needsOption: true,
      view: ({ endpoint, rate, burst }) => `${endpoint}: ${rate} requests per second, ${burst} at once.`,
    }),
  ],
};

function readNumber(text: string, source: OptionSource): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw invalid(source, 'must be a number');
}
