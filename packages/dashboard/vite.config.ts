import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

/** What so many screens need is one file, and not fifty: a first page is some thirty files. */
const MOST_SCREENS = 20;
/** An icon is 260 bytes by itself, and 60 among others. */
const FEW_SCREENS = 3;

/** While the page is worked on: the server takes what comes through here for what its own page asks. */
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
    // What would be inlined here would be an inline script, or a font as data: the page's policy refuses both.
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
