/*
 * SGEMM of another library, measured: a process that takes a case per line and answers with a measurement per line.
 *
 *	cc -O2 -D_GNU_SOURCE sgemm.c -o sgemm -ldl
 *	OMP_NUM_THREADS=1 ./sgemm openblas /usr/lib/x86_64-linux-gnu/libopenblas.so.0 1
 *
 * The library is one of onednn, openblas, mkl and blis; it is opened at run time, so that nothing of it is needed to
 * compile this. `make bench-peers` compiles it, finds the libraries and sets the environment that they read; it looks
 * into LD_LIBRARY_PATH, into the environment of PYTHON, and where systems have them. To install them:
 *
 *	pip install mkl onednn scipy-openblas32                   (into the environment of PYTHON)
 *	pip install --prefix ENVIRONMENT/onednn-gomp onednn-cpu-gomp   (an older oneDNN, whose threads wait actively)
 *	apt install libblis4-openmp libopenblas0-pthread
 *
 * A case is "gemm m=512 n=512 k=512 transa=0 transb=0 seconds=0.05", the answer "73 1234567.8 ns/op".
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void cblas(int order, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
		   const float *b, int ldb, float beta, float *c, int ldc);
typedef int onednn(char transa, char transb, long m, long n, long k, float alpha, const float *a, long lda,
		   const float *b, long ldb, float beta, float *c, long ldc);

static cblas *by_cblas;
static onednn *by_onednn;

struct product {
	int m, n, k, transa, transb;
	float *a, *b, *c;
};

static void multiply(const struct product *p)
{
	int lda = p->transa ? p->m : p->k, ldb = p->transb ? p->k : p->n;

	if (by_onednn)
		by_onednn(p->transa ? 'T' : 'N', p->transb ? 'T' : 'N', p->m, p->n, p->k, 1, p->a, lda, p->b, ldb, 0,
			  p->c, p->n);
	else
		by_cblas(101, p->transa ? 112 : 111, p->transb ? 112 : 111, p->m, p->n, p->k, 1, p->a, lda, p->b, ldb,
			 0, p->c, p->n);
}

/*
 * How many products warm a case up. oneDNN asks the allocator for its workspace in each of them, and the allocator for
 * new pages, which the system has yet to fault in, for up to ten products with one thread and thirty with two. Those
 * that take a tenth of a second do not notice.
 */
static int warming(const struct product *p)
{
	double calls = 7e10 / (2.0 * p->m * p->n * p->k);

	return calls > 32 ? 32 : calls < 1 ? 1 : calls;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/*
 * A, B and C in one block, and in whole huge pages if it fills one. `make bench-peers` has the allocator ask for such,
 * also for what a library packs.
 */
static int matrices(struct product *p)
{
	size_t const page = 2 << 20 /* bytes */, line = 16 /* values */;
	size_t a = (size_t)p->m * p->k, b = (size_t)p->k * p->n, c = (size_t)p->m * p->n;
	size_t first = (a + line - 1) / line * line, second = (b + line - 1) / line * line;
	size_t size = (first + second + c) * sizeof *p->a;

	free(p->a);
	if (size >= page)
		size = (size + page - 1) / page * page;
	if (posix_memalign((void **)&p->a, size >= page ? page : 4096, size)) {
		p->a = NULL;
		return 0;
	}
	for (size_t i = 0; i < first + second + c; i++)
		p->a[i] = (float)(i * 2654435761u % 1000) / 500 - 1;
	p->b = p->a + first;
	p->c = p->b + second;
	return 1;
}

/* The version as the library tells it. */
static void version(void *lib, const char *name, char *text, size_t size)
{
	if (!strcmp(name, "onednn")) {
		struct { int major, minor, patch; } const *v = NULL;
		const void *(*f)(void) = (const void *(*)(void))dlsym(lib, "dnnl_version");

		if (f && (v = f()))
			snprintf(text, size, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
	} else if (!strcmp(name, "openblas")) {
		char *(*f)(void) = (char *(*)(void))dlsym(lib, "openblas_get_config");

		if (!f)
			f = (char *(*)(void))dlsym(lib, "scipy_openblas_get_config");
		if (f)
			snprintf(text, size, "%s", f());
	} else if (!strcmp(name, "mkl")) {
		void (*f)(char *, int) = (void (*)(char *, int))dlsym(lib, "mkl_get_version_string");

		if (f)
			f(text, size);
	} else if (!strcmp(name, "blis")) {
		const char *(*f)(void) = (const char *(*)(void))dlsym(lib, "bli_info_get_version_str");
		int (*id)(void) = (int (*)(void))dlsym(lib, "bli_arch_query_id");
		const char *(*arch)(int) = (const char *(*)(int))dlsym(lib, "bli_arch_string");
		void (*init)(void) = (void (*)(void))dlsym(lib, "bli_init");

		if (init) /* it looks BLIS_ARCH_TYPE up in a table that this fills */
			init();
		if (f && id && arch)
			snprintf(text, size, "BLIS %s, kernels of %s", f(), arch(id()));
	}
	text[size - 1] = 0;
	for (size_t end = strlen(text); end && text[end - 1] == ' ';)
		text[--end] = 0;
}

/* Keeps the process to the first of the processors that it may run on. */
static void keep(int threads)
{
	cpu_set_t all, cpus;

	if (sched_getaffinity(0, sizeof all, &all))
		return;
	CPU_ZERO(&cpus);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&cpus) < threads; i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
}

int main(int argc, char **argv)
{
	char line[256], text[256] = "of unknown version";
	struct product p = {0}, last = {0};
	double took = 0;
	void *lib;

	if (argc != 4) {
		fprintf(stderr, "usage: sgemm onednn|openblas|mkl|blis LIBRARY THREADS\n");
		return 2;
	}
	if (!strcmp(argv[1], "onednn")) /* its builds with TBB count processors, not threads */
		keep(atoi(argv[3]));
	lib = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
	if (!lib) {
		printf("missing: %s\n", dlerror());
		return 1;
	}
	if (!strcmp(argv[1], "onednn"))
		by_onednn = (onednn *)dlsym(lib, "dnnl_sgemm");
	else if (!(by_cblas = (cblas *)dlsym(lib, "cblas_sgemm")))
		by_cblas = (cblas *)dlsym(lib, "scipy_cblas_sgemm");
	if (!by_onednn && !by_cblas) {
		printf("missing: %s has no SGEMM\n", argv[2]);
		return 1;
	}
	version(lib, argv[1], text, sizeof text);
	printf("ready: %s\n", text);
	fflush(stdout);

	while (fgets(line, sizeof line, stdin)) {
		double seconds, start;
		long repeat;

		if (sscanf(line, "gemm m=%d n=%d k=%d transa=%d transb=%d seconds=%lf", &p.m, &p.n, &p.k, &p.transa,
			   &p.transb, &seconds) != 6) {
			printf("error: cannot read the case\n");
			fflush(stdout);
			continue;
		}
		if (p.m != last.m || p.n != last.n || p.k != last.k || p.transa != last.transa ||
		    p.transb != last.transb) {
			if (!matrices(&p)) {
				fprintf(stderr, "out of memory\n");
				return 1;
			}
			last = p;
			for (int i = 0; i < warming(&p); i++)
				multiply(&p);
			start = now();
			multiply(&p);
			took = now() - start;
		}
		if (took < 0.5) /* what was measured in between took the caches */
			multiply(&p);
		repeat = took > 0 ? (long)(seconds / took) : 1;
		if (repeat < 1)
			repeat = 1;
		start = now();
		for (long i = 0; i < repeat; i++)
			multiply(&p);
		took = (now() - start) / repeat;
		printf("%ld %.1f ns/op\n", repeat, took * 1e9);
		fflush(stdout);
	}
	return 0;
}
