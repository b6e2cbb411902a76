export { reencryptImportKeys } from './re-encrypt-keys.ts';
export { forgetImports } from './run/clear-imports.ts';
export type { OpenStripe } from './run/deps.ts';
export { eraseImported } from './run/erase-imported.ts';
export { startImporter } from './run/importer.ts';
export { type StripeAddress, openStripe } from './stripe-api/open-stripe.ts';
export { stripeSources } from './stripe/stripe-source.ts';
