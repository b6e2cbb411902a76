import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

/** A module of at least this many screens goes into one common file. Otherwise it would be about fifty files; a first page loads thirty. */
const MOST_SCREENS = 20;
/** An icon takes 260 bytes in its own file, and 60 among others. */
const FEW_SCREENS = 3;

/** Proxies API requests during development, so that the server accepts them like those of its own page. */
function toServer(): ProxyOptions {
  const target = `http://localhost:${process.env['PORT'] ?? 8080}`;
  return {
    target,
    changeOrigin: true,
    configure: (proxy) => proxy.on('proxyReq', (request) => request.setHeader('origin', target)),
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  server: { port: 5173, strictPort: true, proxy: { '/api/dashboard': toServer() } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    manifest: true,
    sourcemap: false,
    // Inlining would create inline scripts and fonts as data URLs, and the content security policy of the page blocks both.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'icons', test: /lucide-react/, minShareCount: FEW_SCREENS, priority: 3 },
            { name: 'base', tags: ['$initial'], priority: 2 },
            { name: 'common', minShareCount: MOST_SCREENS, priority: 1 },
          ],
        },
      },
    },
  },
});
