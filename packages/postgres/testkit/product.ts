import type { Product } from '../src/product.ts';

/** Not the real product, so that a name that the package should get as an argument fails a test. */
export const TEST_PRODUCT: Product = {
  name: 'lantern',
  title: 'Lantern',
  command: 'lantern-server',
  systemFolder: '/var/lib/lantern',
};
