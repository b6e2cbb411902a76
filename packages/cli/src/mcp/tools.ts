import { drafts } from '../commands/drafts.ts';
import { explain } from '../commands/explain.ts';
import { rules } from '../commands/rules.ts';
import { users } from '../commands/users.ts';
import type { Command, Noun } from '../framework/declare.ts';

/** A command that an assistant may run. Its input is the arguments and options of the command, as text. */
export type Tool = {
  name: string;
  scope: 'read' | 'review';
  command: Command;
  /** The options that the tool takes, by their names in the declaration. */
  options: readonly string[];
  /** Arguments and options without which the tool does not run. */
  required: readonly string[];
};

export const TOOLS: readonly Tool[] = [
  tool('search_users', verb(users, 'list'), { options: ['limit'] }),
  tool('show_user', verb(users, 'show'), { required: ['user'] }),
  tool('explain', explain, { required: ['user'] }),
  tool('list_drafts', verb(drafts, 'list'), { options: ['limit'] }),
  tool('show_draft', verb(drafts, 'show'), { required: ['draft'] }),
  tool('preview_draft', verb(drafts, 'preview'), { required: ['draft'] }),
  tool('backtest_rule', verb(rules, 'backtest'), { options: ['since'], required: ['rule'] }),
  tool('approve_draft', verb(drafts, 'approve'), { ...decision([]), scope: 'review' }),
  tool('skip_draft', verb(drafts, 'skip'), { ...decision(['reason']), scope: 'review' }),
];

/** The hash is required, so that nothing is decided about a text that the assistant has not read. */
function decision(more: readonly string[]) {
  return { options: ['hash', ...more], required: ['draft', 'hash'] };
}

function verb(noun: Noun, name: string): Command {
  const found = noun.commands.find(({ usage }) => usage.split(' ')[0] === name);
  if (!found) throw new Error(`${noun.name} has no command ${name}`);
  return found;
}

function tool(name: string, command: Command, more: Partial<Omit<Tool, 'name' | 'command'>>): Tool {
  return { name, command, scope: 'read', options: [], required: [], ...more };
}
