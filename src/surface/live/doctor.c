/* doctor.c - GET /v1/doctor: what `rememberd doctor` prints, of the server that runs. */
#include "surface/common/error_body.h"

SHAPE(doctor_out, (BOOL, ok, .help = "whether no finding is bad"),
      (JSON, findings, .inside = finding_fields));

/* 200 also when something is bad: the question was answered. */
static HANDLER(doctor_get)
{
    struct finding *v;
    size_t n;
    bool is_well = surface_doctor(ctx, &app->doctor, &v, &n);
    surface_findings_json(&out->body, is_well, v, n);
    return OK;
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/doctor", doctor_get), .access = ACCESS_OPERATOR, ANSWERS(doctor_out),
     .help = "what is wrong, and what to do; asks the upstreams, so it takes seconds"},
    {0},
};

const struct surface surface_doctors = STRICT_SURFACE("doctor", routes);
