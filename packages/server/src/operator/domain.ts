import type { Command } from 'commander';
import { Fault } from '../base/fault.ts';
import { maySend } from '../features/domains/index.ts';
import { findProject } from '../features/projects/index.ts';
import {
  addDomain,
  type DomainView,
  lookAtDomain,
  removeDomain,
  resumeDomain,
  requireDomain,
  rotateKey,
  setDomain,
  showDomain,
  type ShownDomain,
  showDomains,
  toShown,
} from '../flows/domains/index.ts';
import { printCheck, printList, printRecords, printRemoved, printResumed } from './domain-output.ts';
import { addTrack } from './domain-track.ts';
import type { Opened, Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';

type OfProject = { project: string } & OutputOptions;
type OfDomain = OfProject & { domain: string };
type Place = { projectId: number; name: string };

const DOMAIN_OPTION = ['--domain <domain>', 'its name, such as mail.example.com'] as const;
const THROTTLE_OPTION = [
  '--throttle <throttle>',
  'no more letters than that from it: 5/s, 300/m, or off',
] as const;

export function addDomainCommands(program: Command, operator: Operator): void {
  const domain = program
    .command('domain')
    .description('domains that letters come from, and their records in the DNS');
  addAdd(domain, operator);
  addCheck(domain, operator);
  addList(domain, operator);
  addSet(domain, operator);
  addRemove(domain, operator);
  addResume(domain, operator);
  addTrack(domain, operator);
  addOne(domain, operator, {
    name: 'show',
    description: 'print the records to publish for one',
    work: ({ db, mail }, place) => showDomain(db, place, mail),
  });
  addOne(domain, operator, {
    name: 'rotate',
    description: 'begin to replace its DKIM key: the new one signs once its record has been seen',
    work: (opened, place) => rotateKey(opened, place),
  });
}

function addAdd(domain: Command, operator: Operator): void {
  domain
    .command('add')
    .description('add one, and print the records to publish')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DOMAIN_OPTION)
    .option(...THROTTLE_OPTION)
    .option('--warm', 'it has sent for weeks: letters need not begin slowly')
    .option(...JSON_OPTION)
    .action((options: OfDomain & { throttle?: string; warm?: boolean }) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const { throttle, warm } = options;
          return toShown(await addDomain(opened, { ...(await placeOf(opened, options)), throttle, warm }));
        },
        show: printRecords,
      }),
    );
}

function addCheck(domain: Command, operator: Operator): void {
  domain
    .command('check')
    .description('look at the DNS now: what was found, against what was expected; of all without --domain')
    .requiredOption(...PROJECT_OPTION)
    .option(...DOMAIN_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject & { domain?: string }) =>
      runInRealTime<ShownDomain | ShownDomain[]>(operator, options, {
        work: async (opened) => {
          const { project, domain: name } = options;
          if (name !== undefined)
            return toShown(await lookAtDomain(opened, await placeOf(opened, { project, domain: name })));
          const { id: projectId } = await findProject(opened.db, project);
          const checked: ShownDomain[] = [];
          for (const { domain: one } of await showDomains(opened.db, projectId, opened.mail))
            checked.push(toShown(await lookAtDomain(opened, { projectId, name: one.name })));
          return checked;
        },
        show: (shown) =>
          Array.isArray(shown) ? shown.map(printCheck).join('\n\n') || printList([]) : printCheck(shown),
      }),
    );
}

function addList(domain: Command, operator: Operator): void {
  domain
    .command('list')
    .description('list those of a project')
    .requiredOption(...PROJECT_OPTION)
    .option(...DOMAIN_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject & { domain?: string }) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const { project, domain: name } = options;
          if (name !== undefined)
            return [
              toShown(
                await showDomain(opened.db, await placeOf(opened, { project, domain: name }), opened.mail),
              ),
            ];
          const { id } = await findProject(opened.db, project);
          return (await showDomains(opened.db, id, opened.mail)).map(toShown);
        },
        show: printList,
      }),
    );
}

function addSet(domain: Command, operator: Operator): void {
  domain
    .command('set')
    .description('say how fast letters leave from it')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DOMAIN_OPTION)
    .option(...THROTTLE_OPTION)
    .option('--warm', 'it has sent for weeks: letters need not begin slowly')
    .option('--no-warm', 'it is new: more letters day by day, from now on')
    .option(...JSON_OPTION)
    .action((options: OfDomain & { throttle?: string; warm?: boolean }) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const { throttle, warm } = options;
          return toShown(await setDomain(opened, await placeOf(opened, options), { throttle, warm }));
        },
        show: ({ name, throttle, warm }) =>
          `${name}: throttle ${throttle}, ${warm ? 'warm' : 'new, so it begins slowly'}`,
      }),
    );
}

function addRemove(domain: Command, operator: Operator): void {
  domain
    .command('remove')
    .description('take one away; its keys are deleted')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DOMAIN_OPTION)
    .option('--yes', 'letters leave from it now, and are to be held')
    .option(...JSON_OPTION)
    .action((options: OfDomain & { yes?: boolean }) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const place = await placeOf(opened, options);
          const found = await requireDomain(opened.db, place);
          if (maySend(found) && !options.yes) throw unconfirmed(found.name);
          const { id, name } = await removeDomain(opened.db, place);
          return { id, name, removed: true };
        },
        show: printRemoved,
      }),
    );
}

function addResume(domain: Command, operator: Operator): void {
  domain
    .command('resume')
    .description('let letters leave again from one that was paused because too many of them were refused')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DOMAIN_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfDomain) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const { domain: found, ...rest } = await resumeDomain(opened.db, await placeOf(opened, options));
          return { id: found.id, name: found.name, was_paused: rest.wasPaused, retried: rest.asked };
        },
        show: printResumed,
      }),
    );
}

type One = {
  name: string;
  description: string;
  work: (opened: Opened, place: Place) => Promise<DomainView>;
};

function addOne(domain: Command, operator: Operator, { name, description, work }: One): void {
  domain
    .command(name)
    .description(description)
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...DOMAIN_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfDomain) =>
      runInRealTime(operator, options, {
        work: async (opened) => toShown(await work(opened, await placeOf(opened, options))),
        show: printRecords,
      }),
    );
}

async function placeOf({ db }: Opened, { project, domain }: OfDomain): Promise<Place> {
  const { id: projectId } = await findProject(db, project);
  return { projectId, name: domain };
}

function unconfirmed(name: string): Fault {
  const message = `Letters leave from ${name}. With --yes you say that they are to be held from now on`;
  return new Fault('conflict', { details: [{ message, field: 'yes' }] });
}
