import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { findProject } from '../../modules/workspace/index.ts';
import { supportBundle } from '../../modules/operations/index.ts';
import { addCommand, withInstallation } from './command.ts';
import type { Operator } from './operator.ts';

type Options = { project: string; out?: string };

export function addSupportBundleCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'support-bundle',
    help: 'Write a support bundle of a project as JSON: numbers, states and settings, without secrets or personal data',
    options: (command) =>
      command
        .requiredOption('--project <project>', 'ID or name of the project')
        .option('--out <file>', 'Write to this new file, readable by you alone, instead of stdout'),
    async work({ project, out }: Options) {
      const bundle = await withInstallation(operator, async ({ db, mail, mailroom, installed }) => {
        const { id: projectId } = await findProject(db, project);
        const server = { ...installed, transport: mailroom.outlet.kind };
        return { installed: server, ...(await supportBundle(db, { projectId, mail })) };
      });
      if (out === undefined) return bundle;
      const text = `${JSON.stringify(bundle, null, 2)}\n`;
      await writeFile(out, text, { flag: 'wx', mode: 0o600 });
      return { file: out, bytes: Buffer.byteLength(text) };
    },
    text: (result) =>
      'file' in result ? `Wrote ${result.bytes} bytes to ${result.file}` : JSON.stringify(result, null, 2),
  });
}
