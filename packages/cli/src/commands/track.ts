import type { EventInput } from '@beckon/contract';
import { custom } from '../framework/declare.ts';
import { jsonFile, text, time } from '../framework/options.ts';
import { properties } from '../framework/properties.ts';

export const track = custom('track <user> <event>', {
  help: 'Send an event of a user',
  options: {
    properties: properties('-p, --property <key=value>', 'A property; JSON values keep their type'),
    data: jsonFile('--data <file>', 'JSON object of properties; - reads stdin'),
    occurred_at: time(
      '--at <time>',
      'When it happened: 2026-01-31T14:30:00Z, or 2h ago as 2h (default: now)',
      'back',
    ),
    message_id: text('--message-id <id>', 'Your own ID of the event; a second event with it has no effect'),
  },
  async run(context, { user, event: name, properties: overrides, data, ...more }) {
    const all = { ...data, ...overrides };
    const event: EventInput = {
      external_user_id: user,
      name,
      ...(Object.keys(all).length === 0 ? {} : { properties: all }),
      ...more,
    };
    await (await context.client()).track(event, { signal: context.signal });
    await context.output.value({ accepted: true, event }, () => `Accepted event ${name} of ${user}.`);
  },
});
