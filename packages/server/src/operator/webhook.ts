import { type Command, InvalidArgumentError, Option } from 'commander';
import { DURATION_SYNTAX, parseDuration } from '../base/duration.ts';
import { idMaker } from '../base/ids.ts';
import { type EndpointPlace, type EndpointWanted, OVERLAP_DEFAULT_MS } from '../features/endpoints/index.ts';
import { findProject } from '../features/projects/index.ts';
import { showEndpoint, showEndpoints, type ShownEndpoint } from '../flows/shown-webhooks.ts';
import {
  addEndpoint,
  changeEndpoint,
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  rotateSecret,
} from '../flows/webhook-endpoints.ts';
import type { Opened, Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';
import { addDeliveriesCommand, addReplayCommand, addTestCommand } from './webhook-deliveries.ts';
import { ENDPOINT_OPTION, placeOf } from './webhook-place.ts';
import { printCreated, printEndpoints, printRotated } from './webhook-output.ts';

type OfProject = { project: string } & OutputOptions;
type OfEndpoint = OfProject & { endpoint: string };
type Said = { url?: string; types?: string; description?: string; rate?: number; inFlight?: number };

const TYPES_OPTION = [
  '--types <types>',
  'only these, with commas between them; all for all there are',
] as const;

export function addWebhookCommands(program: Command, operator: Operator): void {
  const webhook = program
    .command('webhook')
    .description('endpoints of yours that are told what became of letters');
  addCreate(webhook, operator);
  addList(webhook, operator);
  addUpdate(webhook, operator);
  addSwitches(webhook, operator);
  addRotate(webhook, operator);
  addTestCommand(webhook, operator);
  addDeliveriesCommand(webhook, operator);
  addReplayCommand(webhook, operator);
}

function addCreate(webhook: Command, operator: Operator): void {
  const command = webhook
    .command('create')
    .description('add one, and print the secret that signs for it: it is shown this once')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--url <url>', 'where it listens, such as https://example.com/webhooks');
  withSaid(command).action((options: OfProject & Said & { url: string }) =>
    runInRealTime(operator, options, {
      work: async (opened) => {
        const { id: projectId } = await findProject(opened.db, options.project);
        const wanted = { ...wantedOf(options), projectId, url: options.url };
        const { endpoint, secret } = await addEndpoint(depsOf(opened), wanted);
        return { id: endpoint.id, secret };
      },
      show: printCreated,
    }),
  );
}

function addList(webhook: Command, operator: Operator): void {
  webhook
    .command('list')
    .description('list those of a project, and how they do')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          return showEndpoints(db, projectId);
        },
        show: printEndpoints,
      }),
    );
}

function addUpdate(webhook: Command, operator: Operator): void {
  const command = webhook
    .command('update')
    .description('change what is said here, and nothing else; what waits goes to the new place')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...ENDPOINT_OPTION)
    .option('--url <url>', 'where it listens');
  withSaid(command).action((options: OfEndpoint & Said) =>
    runInRealTime(operator, options, {
      work: async (opened) => {
        const place = await placeOf(opened, options);
        await changeEndpoint(depsOf(opened), place, wantedOf(options));
        return showEndpoint(opened.db, place);
      },
      show: (shown) => printEndpoints([shown]),
    }),
  );
}

function withSaid(command: Command): Command {
  return command
    .option(...TYPES_OPTION)
    .option('--description <text>', 'what it is for')
    .option('--rate <number>', 'no more than so many requests a second, 50 if not said', Number)
    .option('--in-flight <number>', 'no more than so many requests at once, 10 if not said', Number)
    .option(...JSON_OPTION);
}

function wantedOf({ url, types, description, rate, inFlight }: Said): EndpointWanted {
  return {
    url,
    types:
      types === undefined ? undefined : types === 'all' ? null : types.split(',').map((type) => type.trim()),
    description,
    perSecond: rate,
    inFlightMax: inFlight,
  };
}

function addSwitches(webhook: Command, operator: Operator): void {
  const add = (
    name: string,
    description: string,
    act: { work: (opened: Opened, place: EndpointPlace) => Promise<object>; show: (value: object) => string },
  ): void => {
    webhook
      .command(name)
      .description(description)
      .requiredOption(...PROJECT_OPTION)
      .requiredOption(...ENDPOINT_OPTION)
      .option(...JSON_OPTION)
      .action((options: OfEndpoint) =>
        runInRealTime(operator, options, {
          work: async (opened) => act.work(opened, await placeOf(opened, options)),
          show: act.show,
        }),
      );
  };
  add('enable', 'send to it again; what it missed stays missed until webhook replay --missed', {
    work: async (opened, place) => {
      await enableEndpoint(opened, place);
      return showEndpoint(opened.db, place);
    },
    show: (shown) => printEndpoints([shown as ShownEndpoint]),
  });
  add('disable', 'send nothing to it: what waits, and what comes from now on, is missed', {
    work: async (opened, place) => {
      const { missed } = await disableEndpoint(opened, place);
      return { ...(await showEndpoint(opened.db, place)), missed };
    },
    show: (value) =>
      `Nothing is sent to it any more; ${(value as { missed: number }).missed} that waited are missed`,
  });
  add('delete', 'take it away with its secrets; what waits for it is canceled', {
    work: async (opened, place) => {
      const { endpoint, canceled } = await removeEndpoint(opened, place);
      return { id: endpoint.id, url: endpoint.url, deleted: true, canceled };
    },
    show: (value) => `${(value as { url: string }).url} is no endpoint any more`,
  });
}

function addRotate(webhook: Command, operator: Operator): void {
  webhook
    .command('rotate')
    .description('make a new secret, and print it this once; the old one signs beside it for a while')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...ENDPOINT_OPTION)
    .addOption(
      new Option('--overlap <time>', 'for how long the old one goes on, up to 7d; 0 ends it now')
        .argParser(readOverlap)
        .default(OVERLAP_DEFAULT_MS, '24h'),
    )
    .option(...JSON_OPTION)
    .action((options: OfEndpoint & { overlap: number }) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const place = await placeOf(opened, options);
          return { id: place.endpointId, secret: await rotateSecret(depsOf(opened), place, options.overlap) };
        },
        show: printRotated,
      }),
    );
}

function readOverlap(text: string): number {
  if (text === '0') return 0;
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError(`It must be ${DURATION_SYNTAX}, or 0.`);
  return ms;
}

function depsOf({ db, sealer, webhooks }: Opened) {
  return { db, sealer, newId: idMaker(db.clock), rules: webhooks };
}
