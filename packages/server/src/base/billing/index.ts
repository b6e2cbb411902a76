export { type Catalogue, catalogueOf } from './catalogue.ts';
export type {
  BillingHistory,
  CustomerFacts,
  InvoiceFacts,
  LineFacts,
  PriceFacts,
  ProductFacts,
  SubscriptionFacts,
} from './facts.ts';
export { type Match, matchCustomer } from './match.ts';
export { type BillingRecords, type Owner, recordsOf } from './records.ts';
