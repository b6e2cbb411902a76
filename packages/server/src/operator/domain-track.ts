import type { Command } from 'commander';
import { Fault } from '../base/fault.ts';
import { findProject } from '../features/projects/index.ts';
import { toShown, trackDomain } from '../flows/domains/index.ts';
import { printTracking } from './domain-tracking-output.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';

type Options = { project: string; domain: string; host?: string; off?: boolean } & OutputOptions;

/** The host that links in letters of a domain have, in place of the installation's own. */
export function addTrack(domain: Command, operator: Operator): void {
  domain
    .command('track')
    .description('give the links in its letters a host of its own, below it')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--domain <domain>', 'its name, such as mail.example.com')
    .option('--host <host>', 'the name that links are to have, such as t.mail.example.com')
    .option('--off', "links have the installation's own address again")
    .option(...JSON_OPTION)
    .action((options: Options) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const host = wantedHost(options);
          const { id: projectId } = await findProject(opened.db, options.project);
          const { publicUrl } = opened.mailroom.outlet;
          const view = await trackDomain(opened, { projectId, name: options.domain }, host);
          return { ...toShown(view), leads_to: new URL(publicUrl).hostname, public_url: publicUrl };
        },
        show: printTracking,
      }),
    );
}

function wantedHost({ host, off = false }: Options): string | null {
  if ((host === undefined) === off) return host ?? null;
  const message = 'Give either --host with the name that links are to have, or --off';
  throw new Fault('validation_failed', { details: [{ message, field: 'host' }] });
}
