import { CANONICAL_SAMPLES } from '../canonical-samples.ts';
import { custom } from '../framework/declare.ts';
import { fallback, flag, oneOf, text } from '../framework/options.ts';
import { properties } from '../framework/properties.ts';

const NAMES = Object.keys(CANONICAL_SAMPLES);

export const trigger = custom('trigger <event>', {
  help: 'Send a canonical event with sample properties',
  args: { event: `One of ${NAMES.join(', ')}` },
  options: {
    user: fallback(text('--user <user>', 'User ID of the event'), 'beckon-trigger'),
    email: text('--email <address>', 'Email address of the user, sent before the event'),
    properties: properties('-p, --property <key=value>', 'Replace or add a property'),
    live: flag('--live', 'Send with a live key: rules fire, and emails may be sent'),
  },
  async run(context, { event: name, user, email, properties: overrides, live }) {
    const { output, signal } = context;
    const sample = CANONICAL_SAMPLES[oneOf(name, NAMES, 'event')];
    const { apiKey } = await context.connection();
    if ((await apiKey()).startsWith('sk_live_') && !live)
      await context.confirm(
        `This is a live key: rules fire on ${name}, and emails may be sent. Send it?`,
        '--live',
      );
    const client = await context.client();
    if (email !== undefined) await client.users.upsert({ external_user_id: user, email }, { signal });
    const event = { external_user_id: user, name, properties: { ...sample, ...overrides } };
    await client.track(event, { signal });
    await output.value(
      { accepted: true, event },
      () => `Accepted event ${name} of ${user} ${JSON.stringify(event.properties)}`,
    );
  },
});
