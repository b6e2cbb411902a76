import type { Product } from '@beckon/postgres';

/** The names of Beckon in its embedded PostgreSQL and on disk. Installations keep them, so they never change. */
export const PRODUCT: Product = {
  name: 'beckon',
  title: 'Beckon',
  command: 'beckon-server',
  systemFolder: '/var/lib/beckon',
};
