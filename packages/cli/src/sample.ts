/** The sample that `beckon init` writes: everything that a first email needs. */
export const SAMPLE = `import { Beckon } from '@beckon/client';

const beckon = new Beckon({ url: process.env.BECKON_URL, apiKey: process.env.BECKON_API_KEY });

// Send a user when you know them, and again whenever something changes.
await beckon.users.upsert({
  external_user_id: 'user_42',
  email: 'ada@example.com',
  traits: { name: 'Ada', plan: 'trial' },
});

// Send what they do. With the rules of a new project, this event creates the first draft.
await beckon.track({
  external_user_id: 'user_42',
  name: 'user_signed_up',
  properties: { plan: 'trial' },
});

console.log('Sent. The draft is in Review.');
`;
