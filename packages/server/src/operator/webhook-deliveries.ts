import { type Command, InvalidArgumentError, Option } from 'commander';
import { DURATION_SYNTAX, parseDuration } from '../base/duration.ts';
import { Fault } from '../base/fault.ts';
import { idMaker } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { parseInstant } from '../base/instant.ts';
import { findProject } from '../features/projects/index.ts';
import { type DeliveryState, listDeliveries, readMessageName } from '../features/webhooks/index.ts';
import { testEndpoint } from '../flows/deliver-webhooks/index.ts';
import { type ListedDelivery, toDelivery } from '../flows/shown-webhooks.ts';
import { replayWebhooks, type ReplayWanted } from '../flows/replay-webhooks.ts';
import { EXIT_FAILED, type Opened, type Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';
import { ENDPOINT_OPTION, placeOf } from './webhook-place.ts';
import { printDeliveries, printDelivery } from './webhook-output.ts';

type OfProject = { project: string } & OutputOptions;

const LISTED = 100;
const LISTED_MAX = 10_000;
const STATES = ['pending', 'delivering', 'delivered', 'exhausted', 'missed', 'canceled'] as const;
const REPLAYABLE = ['exhausted', 'missed', 'delivered'] as const;
const REPLAYED_UNASKED: DeliveryState[] = ['exhausted', 'missed'];
const ONLY_ENDPOINT = ['--endpoint <endpoint>', 'only those of this endpoint'] as const;

export function addTestCommand(webhook: Command, operator: Operator): void {
  webhook
    .command('test')
    .description('send a message of the type test to an endpoint now, and print what it answered')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...ENDPOINT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject & { endpoint: string }) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const place = await placeOf(opened, options);
          const outbound = opened.openOutbound();
          try {
            const { db, sealer, webhooks } = opened;
            const deps = {
              db,
              sealer,
              outbound,
              agent: webhooks.agent,
              newId: idMaker(db.clock),
              log: silentLog,
            };
            const rows = await read(opened, { ...place, messageId: await testEndpoint(deps, place) });
            // So that a script knows as well.
            if (rows.some(({ state }) => state !== 'delivered')) operator.setExitCode(EXIT_FAILED);
            return rows;
          } finally {
            outbound.close();
          }
        },
        show: (rows) => rows.map(printDelivery).join('\n\n'),
      }),
    );
}

type Asked = {
  projectId: number;
  endpointId?: string;
  messageId?: string;
  states?: DeliveryState[];
  limit?: number;
};

async function read({ db }: Opened, asked: Asked): Promise<ListedDelivery[]> {
  const { projectId, endpointId = null, messageId = null, states = null, limit = LISTED } = asked;
  const found = await listDeliveries(db, { projectId, endpointId, messageId, states, limit });
  return found.map(toDelivery);
}

type DeliveriesOptions = OfProject & {
  endpoint?: string;
  message?: string;
  state?: DeliveryState;
  limit: number;
};

export function addDeliveriesCommand(webhook: Command, operator: Operator): void {
  webhook
    .command('deliveries')
    .description('what was told to whom, with every attempt, the newest first')
    .requiredOption(...PROJECT_OPTION)
    .option(...ONLY_ENDPOINT)
    .option('--message <message>', 'only this message: the id that its body has')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .option('--limit <number>', 'no more than so many', readLimit, LISTED)
    .option(...JSON_OPTION)
    .action((options: DeliveriesOptions) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const { message, state, limit } = options;
          return read(opened, {
            ...(await askedOf(opened, options)),
            limit,
            ...(message === undefined ? {} : { messageId: readMessageName(message) }),
            ...(state === undefined ? {} : { states: [state] }),
          });
        },
        show: (rows) =>
          options.message !== undefined && rows.length > 0
            ? rows.map(printDelivery).join('\n\n')
            : printDeliveries(rows, isFiltered(options) ? NONE_SUCH : 'Nothing was to be told yet'),
      }),
    );
}

/** Where some were asked for, that they are not there says nothing of the others. */
const NONE_SUCH = 'There is no such delivery of the last 30 days';

function isFiltered({ endpoint, message, state }: DeliveriesOptions): boolean {
  return [endpoint, message, state].some((asked) => asked !== undefined);
}

type ReplayOptions = OfProject & {
  endpoint?: string;
  delivery?: string;
  message?: string;
  since?: string;
  until?: string;
  states?: DeliveryState[];
  missed?: boolean;
  history?: boolean;
};

export function addReplayCommand(webhook: Command, operator: Operator): void {
  webhook
    .command('replay')
    .description('send again what was told before: the same ids and bodies, to where the endpoints are now')
    .requiredOption(...PROJECT_OPTION)
    .option(...ONLY_ENDPOINT)
    .option('--delivery <id>', 'one delivery; with --endpoint, where several endpoints were told')
    .option('--message <message>', 'one message, to all that were to be told')
    .option('--since <time>', 'what happened from then on: 2026-01-15T12:00:00Z, or so long back, such as 7d')
    .option('--until <time>', 'what happened until then')
    .option(
      '--states <states>',
      'only those that are so: exhausted,missed if not said, delivered too',
      readStates,
    )
    .option('--missed', 'all that was missed while an endpoint was disabled')
    .option('--history', 'also what this endpoint was never to get, because it was made later')
    .option(...JSON_OPTION)
    .action((options: ReplayOptions) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const wanted = readWanted(options, { ...(await askedOf({ db }, options)), now: db.clock.now() });
          if (options.delivery !== undefined) await requireOne({ db }, wanted);
          return replayWebhooks(db, wanted);
        },
        show: ({ replayed }) =>
          replayed === 1 ? '1 delivery begins anew' : `${replayed} deliveries begin anew`,
      }),
    );
}

function readWanted(
  options: ReplayOptions,
  { projectId, endpointId, now }: Of & { now: number },
): ReplayWanted {
  const { delivery, since, until, states, missed = false, history = false } = options;
  const one = delivery ?? options.message;
  if ([one, since, missed || undefined].filter((ask) => ask !== undefined).length !== 1)
    throw invalid('One of --delivery, --message, --since and --missed says what is sent again', 'since');
  return {
    projectId,
    endpointId: endpointId ?? null,
    messageId: one === undefined ? null : readMessageName(one),
    since: readTime(since, { now, field: 'since' }),
    until: readTime(until, { now, field: 'until' }),
    states: missed ? ['missed'] : (states ?? (one === undefined ? REPLAYED_UNASKED : [...REPLAYABLE])),
    history,
  };
}

type Of = { projectId: number; endpointId?: string };

async function askedOf(
  opened: Pick<Opened, 'db'>,
  { project, endpoint }: { project: string; endpoint?: string },
): Promise<Of> {
  if (endpoint !== undefined) return placeOf(opened, { project, endpoint });
  return { projectId: (await findProject(opened.db, project)).id };
}

/** Of one delivery people think that it is one. */
async function requireOne({ db }: Pick<Opened, 'db'>, wanted: ReplayWanted): Promise<void> {
  const { projectId, endpointId, messageId } = wanted;
  const found = await listDeliveries(db, { projectId, endpointId, messageId, states: null, limit: 2 });
  if (found.length === 1) return;
  const message =
    found.length === 0
      ? 'There is no such delivery: webhook deliveries shows those there are'
      : 'Several endpoints were told of it: --endpoint says which, or --message means all of them';
  throw new Fault(found.length === 0 ? 'not_found' : 'conflict', {
    details: [{ message, field: 'delivery' }],
  });
}

function readTime(text: string | undefined, { now, field }: { now: number; field: string }): number | null {
  if (text === undefined) return null;
  const back = parseDuration(text);
  const at = back === undefined ? parseInstant(text) : now - back;
  if (!Number.isNaN(at)) return at;
  throw invalid(`--${field} must be a time such as 2026-01-15T12:00:00Z, or ${DURATION_SYNTAX}`, field);
}

function readStates(text: string): DeliveryState[] {
  const states = text.split(',').map((state) => REPLAYABLE.find((one) => one === state.trim()));
  if (states.every((state) => state !== undefined)) return states;
  throw new InvalidArgumentError(`It must be some of ${REPLAYABLE.join(',')}.`);
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= LISTED_MAX) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${LISTED_MAX}.`);
}

function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
