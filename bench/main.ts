import { benchAccept } from './accept/index.ts';
import { benchAudiences } from './audiences/index.ts';
import { benchClient } from './client/index.ts';
import { benchDigest } from './digest/index.ts';
import { benchImport } from './import/index.ts';
import { benchReview } from './review/index.ts';
import { benchRules } from './rules/index.ts';
import { benchSend } from './send/index.ts';
import { benchStripe } from './stripe/index.ts';
import { benchWebhooks } from './webhooks/index.ts';

const BENCHES: Record<string, (parts: string[]) => Promise<void>> = {
  accept: benchAccept,
  digest: benchDigest,
  audiences: benchAudiences,
  rules: benchRules,
  review: benchReview,
  send: benchSend,
  webhooks: benchWebhooks,
  client: benchClient,
  import: benchImport,
  stripe: benchStripe,
};

const [name, ...parts] = process.argv.slice(2);
const chosen = name === undefined ? Object.values(BENCHES) : [BENCHES[name]];
for (const bench of chosen) {
  if (!bench) throw new Error(`There is no bench "${name}": ${Object.keys(BENCHES).join(', ')}`);
  await bench(parts);
}
