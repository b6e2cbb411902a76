import type { Command } from 'commander';
import { addAudienceCommands } from './audience.ts';
import { addDoctorCommand } from './doctor.ts';
import { addDomainCommands } from './domain.ts';
import { addDraftCommands } from './draft.ts';
import { addEventCommands } from './event.ts';
import { addExplainCommand } from './explain.ts';
import { addInsightsCommand } from './insights.ts';
import { addKeyCommands } from './key.ts';
import { addMailInCommands } from './mail-in.ts';
import { addMigrateCommand } from './migrate.ts';
import type { Operator } from './operator.ts';
import { addOutboxCommands } from './outbox.ts';
import { addPauseCommands } from './pause.ts';
import { addPolicyCommands } from './policy.ts';
import { addProjectCommands } from './project.ts';
import { addQueueCommands } from './queue.ts';
import { addRateLimitCommands } from './rate-limit.ts';
import { addReplyCommands } from './reply.ts';
import { addRuleCommands } from './rule.ts';
import { addServeCommand } from './serve.ts';
import { addSettingsCommands } from './settings.ts';
import { addStreamCommand } from './stream.ts';
import { addSuppressionCommands } from './suppression.ts';
import { addTemplateCommands } from './template.ts';
import { addUserCommands } from './user.ts';
import { addWebhookCommands } from './webhook.ts';

/** The operator's surface, one file a command; the same to whoever types and to every script. */
export function addCommands(program: Command, operator: Operator): void {
  addServeCommand(program, operator);
  addMigrateCommand(program, operator);
  addDoctorCommand(program, operator);
  addProjectCommands(program, operator);
  addKeyCommands(program, operator);
  addSettingsCommands(program, operator);
  addRateLimitCommands(program, operator);
  addQueueCommands(program, operator);
  addStreamCommand(program, operator);
  addAudienceCommands(program, operator);
  addRuleCommands(program, operator);
  addTemplateCommands(program, operator);
  addDraftCommands(program, operator);
  addDomainCommands(program, operator);
  addOutboxCommands(program, operator);
  addReplyCommands(program, operator);
  addPauseCommands(program, operator);
  addSuppressionCommands(program, operator);
  addWebhookCommands(program, operator);
  addPolicyCommands(program, operator);
  addExplainCommand(program, operator);
  addInsightsCommand(program, operator);
  addMailInCommands(program, operator);
  addUserCommands(program, operator);
  addEventCommands(program, operator);
}

export type { Inspection, InspectedConfig } from './checks.ts';
export { EXIT_USAGE, type Opened, type Operator, type Served } from './operator.ts';
