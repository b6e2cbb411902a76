import type { Command } from 'commander';
import { silentLog } from '../../platform/log.ts';
import { secretKinds } from '../../modules/operations/index.ts';
import { addCommand, withInstallation } from './command.ts';
import { EXIT_FAILED, type Operator } from './operator.ts';

export function addReencryptCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 're-encrypt-secrets',
    help: 'Re-encrypt what SECRET_KEY_PREVIOUS encrypted with SECRET_KEY. Workers do the same every ten minutes.',
    work: () =>
      withInstallation(operator, async (installation) => {
        const unreadable: string[] = [];
        const log = {
          ...silentLog,
          warn: (facts: object) =>
            void unreadable.push(
              Object.entries(facts)
                .flatMap(([name, id]) => (name === 'err' ? [] : String(id)))
                .join(' '),
            ),
        };
        const reencrypted: Record<string, number> = {};
        for (const [kind, reencrypt] of secretKinds({ ...installation, log }))
          reencrypted[kind] = await reencrypt();
        if (unreadable.length > 0) operator.setExitCode(EXIT_FAILED);
        return { re_encrypted: reencrypted, unreadable };
      }),
    text: ({ re_encrypted: counts, unreadable }) => {
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const lines = Object.entries(counts).map(([kind, count]) => `  ${kind.replaceAll('_', ' ')}: ${count}`);
      const head = `Re-encrypted ${total} secrets:`;
      if (unreadable.length === 0) return [head, ...lines].join('\n');
      const tail = `${unreadable.length} secrets cannot be decrypted with SECRET_KEY or SECRET_KEY_PREVIOUS:`;
      return [head, ...lines, tail, ...unreadable.map((id) => `  ${id}`)].join('\n');
    },
  });
}
