/** What `beckon init` writes: everything that a first letter needs. */
export const SAMPLE = `import { Beckon } from '@beckon/client';

const beckon = new Beckon({ url: process.env.BECKON_URL, apiKey: process.env.BECKON_API_KEY });

// Tell who somebody is once you know it, and again whenever it changes.
await beckon.users.upsert({
  external_user_id: 'user_42',
  email: 'ada@example.com',
  traits: { name: 'Ada', plan: 'trial' },
});

// Tell what they do. With the rules that every project begins with, this one writes a first letter.
await beckon.track({
  external_user_id: 'user_42',
  name: 'user_signed_up',
  properties: { plan: 'trial' },
});

console.log('Told. The draft waits in Review.');
`;
